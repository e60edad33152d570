package app

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"ikigai/internal/agent"
	"ikigai/internal/command"
	"ikigai/internal/config"
	"ikigai/internal/convo"
	"ikigai/internal/provider"
	"ikigai/internal/stats"
	"ikigai/internal/store"
	"ikigai/internal/tool"
	"ikigai/internal/toolkit"
	"ikigai/internal/tui"
	"ikigai/internal/walk"
	"ikigai/internal/window"
)

// chatFlags are the flags of the terminal face.
func chatFlags(c *cobra.Command) {
	settingFlags(c)
	c.Flags().Bool("trust", false, "trust this project for this run")
	c.Flags().Bool("screen-reader", false, "plain lines, nothing is drawn over")
}

func sessionFlags(c *cobra.Command) {
	c.Flags().String("session", "", "go on in this session")
	c.Flags().Bool("continue", false, "go on in the newest session of this folder")
}

func (a *app) resumeCommand() *cobra.Command {
	c := &cobra.Command{Use: "resume [SESSION]", Short: "Go on with a session in the terminal", Args: cobra.MaximumNArgs(1)}
	chatFlags(c)
	last := c.Flags().Bool("last", false, "the newest of this folder")
	c.RunE = func(c *cobra.Command, args []string) error {
		w := which{newest: *last}
		if len(args) == 1 {
			w.id, w.newest = args[0], false
		}
		if _, _, ok := a.streams(); !ok {
			return a.resumeElsewhere(c, w)
		}
		if w.id == "" && !w.newest {
			id, err := a.pick(c)
			if err != nil || id == "" {
				return err
			}
			w.id = id
		}
		return a.talk(c, w)
	}
	return c
}

// pick lets the person choose a session; empty when none was chosen.
func (a *app) pick(c *cobra.Command) (id string, err error) {
	in, out, ok := a.streams()
	if !ok {
		return "", a.resumeElsewhere(c, which{})
	}
	err = a.withStore(c, func(ctx context.Context, s store.Store, dir string) error {
		chosen, ok := tui.Pick(ctx, tui.PickOptions{
			In: in, Out: out, Getenv: a.variable, Signals: a.env.Signals, Title: "Sessions", Scopes: []string{"here", "all"},
			List: func(ctx context.Context, scope int, add func(tui.Choice)) {
				a.listChoices(ctx, s, []string{dir, ""}[scope], add)
			},
			Actions: a.sessionActions(s),
		})
		if ok {
			id = chosen.ID
		}
		return nil
	})
	return id, err
}

// sessionActions are what can be done with a session of the list.
func (a *app) sessionActions(s store.Store) []tui.Action {
	return []tui.Action{
		{Key: "ctrl+r", Text: "rename", Ask: "its new title:", Do: func(ctx context.Context, id, title string) (string, error) {
			found, err := a.find(ctx, s, id)
			if err != nil || title == "" {
				return "", err
			}
			found.Title = title
			return "renamed", s.Update(ctx, found)
		}},
		{Key: "ctrl+f", Text: "fork", Do: func(ctx context.Context, id, _ string) (string, error) {
			forked, err := a.forked(ctx, s, id)
			return "forked as " + forked.ID, err
		}},
		{Key: "ctrl+e", Text: "export", Do: func(ctx context.Context, id, _ string) (string, error) {
			found, err := a.find(ctx, s, id)
			if err != nil {
				return "", err
			}
			name := "ikigai-" + id + ".html"
			return "saved as " + name, a.writeFile(name, func(w io.Writer) error { return a.export(ctx, s, found, exportForms[0], false, w) })
		}},
		{Key: "ctrl+x", Text: "delete", Ask: "delete it for good? yes:", Do: func(ctx context.Context, id, sure string) (string, error) {
			if sure != "yes" {
				return "it is kept", nil
			}
			quiet := *a // which would write over the list
			quiet.env.Stdout = io.Discard
			return "deleted", quiet.remove(ctx, s, []string{id})
		}},
	}
}

// forked begins a session that shares all of another.
func (a *app) forked(ctx context.Context, s store.Store, id string) (store.Session, error) {
	found, err := a.find(ctx, s, id)
	if err != nil {
		return found, err
	}
	seq, err := lastOfTurn(ctx, s, id, 0)
	if err != nil {
		return found, err
	}
	fresh, err := uuid.NewV7()
	if err != nil {
		return found, fmt.Errorf("making a session id: %w", err)
	}
	return store.Fork(ctx, s, id, seq, store.Session{ID: fresh.String(), Title: found.Title, Dir: found.Dir, Branch: found.Branch, Model: found.Model})
}

// listChoices gives the sessions of a folder as rows of a picker.
func (a *app) listChoices(ctx context.Context, s store.Store, dir string, add func(tui.Choice)) {
	for p, err := range a.picks(ctx, s, dir) {
		if err != nil || ctx.Err() != nil {
			return // what was found can be chosen; ikigai session list says what is wrong
		}
		facts := counted(p.Calls, "call")
		if p.CostUSD != nil && *p.CostUSD > 0 {
			facts += fmt.Sprintf(" $%.2f", *p.CostUSD)
		}
		more := []string{p.ID, p.Dir}
		if p.Words != "" {
			more = append(more, "last words: "+p.Words)
		}
		if len(p.Files) > 0 {
			more = append(more, "files: "+changedFiles(p.Files))
		}
		add(tui.Choice{ID: p.ID, Cells: []string{ago(time.Since(p.Updated)), filepath.Base(p.Dir), p.Branch, p.Title, facts}, More: more})
	}
}

func counted(n int64, what string) string {
	if n != 1 {
		what += "s"
	}
	return fmt.Sprintf("%d %s", n, what)
}

func changedFiles(files []picked) string {
	var names []string
	for _, f := range files {
		names = append(names, fmt.Sprintf("%s +%d -%d", f.Path, f.Added, f.Removed))
	}
	return strings.Join(names, ", ")
}

func noTerminal() error {
	return usage(`ikigai run "..." works without one`, "talking needs a terminal on standard input and output")
}

// chat is the terminal face.
func (a *app) chat(c *cobra.Command) error { return a.talk(c, whichOf(c, "", false)) }

// talk shows sessions until the person leaves: one, and those that are resumed
// from it.
func (a *app) talk(c *cobra.Command, w which) error {
	in, out, ok := a.streams()
	if !ok {
		if w.id != "" || w.newest {
			return a.resumeElsewhere(c, w)
		}
		return noTerminal()
	}
	dir, err := a.dir()
	if err != nil {
		return err
	}
	reader, _ := c.Flags().GetBool("screen-reader")
	asked := a.asksTrust(c, dir, in, out, reader)
	if asked.left {
		return nil
	}
	w.trusted = asked.trusted
	cfg, err := a.settings(c, dir, w.trusted)
	if err != nil {
		return err
	}
	for seen, draft := false, ""; ; {
		h, err := a.build(c.Context(), cfg, dir, w)
		if err != nil {
			return err
		}
		a.usualModel(c.Context(), h)
		t := &talk{app: a, house: h, agent: a.agent(h), in: in, out: out, reader: reader, note: asked.note, seen: seen, draft: draft}
		a.code = t.run(c.Context())
		goesOn, err := t.tidy(c.Context())
		if err := errors.Join(err, h.close()); err != nil || t.next == "" && t.endpoint == nil {
			return err
		}
		if t.next == "" && goesOn {
			t.next = h.id
		}
		seen, draft = t.between(c.Context())
		cfg, w = t.chosen(), which{id: t.next, trusted: w.trusted}
	}
}

// usualModel lets a session go on with its own model where the person has set none.
func (a *app) usualModel(ctx context.Context, h *house) {
	s, err := h.store.Session(ctx, h.id)
	if h.cfg.Model != "" || err != nil || s.Model == "" {
		return
	}
	cfg := *h.cfg
	cfg.Model = s.Model
	h.cfg = &cfg
}

func (a *app) streams() (in, out *os.File, ok bool) {
	in, isFile := a.env.Stdin.(*os.File)
	out, isFile2 := a.env.Stdout.(*os.File)
	return in, out, isFile && isFile2 && isTerminal(in) && isTerminal(out)
}

// A talk is one session in the terminal.
type talk struct {
	*app
	house   *house
	agent   *agent.Agent
	in, out *os.File
	reader  bool   // a screen reader
	note    string // said at the start
	seen    bool   // the session stands on the screen already
	draft   string // what stands in the box at the start

	next string   // the session to go on with; empty to end
	undo []string // arguments of the undo to be done before

	mu                  sync.Mutex // guards what follows
	titled              bool
	model, mode, effort string         // what the person chose meanwhile
	endpoint            *config.Config // and where that model is: the face begins again with it
}

// Send hands an op to the engine and takes note of what the person chose.
func (t *talk) Send(op agent.Op) {
	t.mu.Lock()
	switch op := op.(type) {
	case agent.SetModel:
		t.model = op.Model
		t.change(func(s *store.Session) { s.Model = op.Model })
	case agent.SetMode:
		t.mode = string(op.Mode)
	case agent.SetEffort:
		t.effort = string(op.Effort)
	}
	t.mu.Unlock()
	t.agent.Send(withPictures(op, t.house.dir))
}

// Events gives the events of the session.
func (t *talk) Events(ctx context.Context, after int64) iter.Seq[convo.Event] {
	return t.agent.Events(ctx, after)
}

// chosen are the settings as the person left them: the face that begins again
// goes on with them.
func (t *talk) chosen() *config.Config {
	t.mu.Lock()
	defer t.mu.Unlock()
	cfg := *t.house.cfg
	if t.endpoint != nil {
		cfg = *t.endpoint
	}
	if t.model != "" {
		cfg.Model = t.model
	}
	if t.mode != "" {
		cfg.Mode = t.mode
	}
	if t.effort != "" {
		cfg.Effort = t.effort
	}
	return &cfg
}

func (t *talk) run(ctx context.Context) int {
	ctx, cancel := context.WithCancel(ctx)
	over := make(chan struct{})
	go func() {
		defer close(over)
		t.agent.Run(ctx) // its errors are events
	}()
	o := t.options()
	t.house.stored = nil
	code := tui.Run(context.WithoutCancel(ctx), t, o)
	cancel()
	<-over
	return code
}

// between does what has to be done while no face and no engine hold the session:
// undo writes its own event. It gives whether the screen still shows the session
// and, after an undo, the words that led to what was undone.
func (t *talk) between(ctx context.Context) (seen bool, draft string) {
	if t.undo == nil {
		return t.endpoint != nil, ""
	}
	c := t.undoCommand()
	c.SilenceUsage, c.SilenceErrors = true, true
	c.SetArgs(append(t.undo, "--session", t.next))
	if err := c.ExecuteContext(ctx); err != nil {
		t.fail(err)
		return true, ""
	}
	return true, t.undone()
}

// undone are the words of the turn that was taken back: they may be said better.
func (t *talk) undone() string {
	if len(t.undo) != 0 && t.undo[0] == "--redo" {
		return ""
	}
	text := ""
	for _, e := range t.events() {
		if !window.Said(e) {
			continue
		}
		text = e.Text
		if len(t.undo) > 0 && fmt.Sprint(e.Turn) == t.undo[0] {
			break
		}
	}
	return text
}

func (t *talk) options() tui.Options {
	h := t.house
	o := tui.Options{
		In: t.in, Out: t.out, Getenv: t.variable, Signals: t.env.Signals,
		Version: Version, Session: h.id, Dir: filepath.Base(h.dir), Branch: branch(h.dir), Model: h.cfg.Model, Mode: string(h.mode),
		Turns: h.limits().Rounds, Window: func(model string) int { return provider.Lookup(model).Window },
		Color: h.cfg.Screen.Color, ToolLines: h.cfg.Screen.ToolLines, ScreenReader: t.reader,
		Stored: h.stored, Seen: t.seen, Draft: t.draft, Commands: t.commands(), Said: t.said(), Remember: t.remember, Files: t.files, Edit: t.edit, Shell: t.shell,
		Now: time.Now,
	}
	if t.note != "" && !t.seen {
		o.Notes = append(o.Notes, t.note)
	}
	if h.cfg.Model == "" {
		o.Welcome = t.welcome()
	}
	return o
}

// commands are the functions that slash commands work with.
func (t *talk) commands() command.Env {
	h := t.house
	env := command.Env{
		Events:  t.events,
		Tools:   t.tools,
		Refresh: t.refresh,
		Usual:   h.permit.Usual,
		Models:  func(ctx context.Context) []string { return t.usable(ctx) },
		Mode:    h.permit.Mode,
		Effort:  func() string { return t.chosen().Effort },
		Rules:   h.permit.List,
		Tasks:   h.tasks,
		Jobs:    t.jobs,
		Context: t.context,
		Stats:   t.stats,
		Trust:   func(context.Context) (string, error) { return t.trust() },
		Sessions: func(ctx context.Context) ([]store.Session, error) {
			return collect(ctx, h.store, h.dir)
		},
		Export: func(ctx context.Context, form string) (string, error) { return t.exportHere(ctx, h, form) },
	}
	if !h.cfg.Ephemeral { // what is not kept cannot be opened again
		env.Fork, env.Resume = t.fork, t.resume
		env.Undo = func(turn int) { t.next, t.undo = h.id, turnArgs(turn) }
		env.Redo = func() { t.next, t.undo = h.id, []string{"--redo"} }
	}
	return env
}

func turnArgs(turn int) []string {
	if turn == 0 {
		return []string{}
	}
	return []string{fmt.Sprint(turn)}
}

// events is the conversation so far.
func (t *talk) events() []convo.Event {
	ctx, cancel := context.WithCancel(context.Background())
	cancel() // what is stored, and no more
	var all []convo.Event
	for e := range t.agent.Events(ctx, 0) {
		all = append(all, e)
	}
	return all
}

// tools are the tools the model is offered, once they are known.
func (t *talk) tools(ctx context.Context) (*tool.Set, error) {
	if err := t.house.ready(ctx); err != nil {
		return nil, err
	}
	all := t.house.tools.Current()
	var offered []tool.Tool
	for _, s := range t.house.offered(all) {
		if one, ok := all.Lookup(s.Name); ok {
			offered = append(offered, one)
		}
	}
	return tool.NewSet(all.State, t.fromHome(all.Problems), offered...), nil
}

// fromHome shortens the paths of problems, as a person writes them.
func (t *talk) fromHome(list []tool.Problem) []tool.Problem {
	list = slices.Clone(list)
	for i, p := range list {
		if rest, ok := strings.CutPrefix(p.Path, t.env.Home+string(filepath.Separator)); ok {
			list[i].Path = filepath.Join("~", rest)
		}
	}
	return list
}

func (t *talk) refresh(ctx context.Context) (command.Refreshed, error) {
	changes, err := t.house.finder.Refresh(ctx)
	if err != nil {
		return command.Refreshed{}, err
	}
	r := command.Refreshed{Count: len(t.house.offered(t.house.tools.Current())), Added: changes.Added, Removed: changes.Removed, Problems: t.fromHome(changes.Failed)}
	for _, c := range changes.Changed {
		r.Changed = append(r.Changed, c.Name)
	}
	return r, nil
}

// jobs are the programs that run in the background.
func (t *talk) jobs() []command.Job {
	var running []command.Job
	for _, j := range t.house.jobs.List() {
		if j.Running {
			running = append(running, command.Job{ID: j.ID, Command: j.Command, For: time.Since(j.Started)})
		}
	}
	return running
}

// context is what fills the model's window, and how much fits.
func (t *talk) context(context.Context) (shares []command.Share, size int) {
	tools := 0
	for _, s := range t.house.offered(t.house.tools.Current()) {
		tools += len(s.Description) + len(s.Parameters.JSON())
	}
	for _, s := range window.Breakdown(t.events(), len(t.house.system), tools) {
		shares = append(shares, command.Share{What: s.What, Tokens: s.Tokens})
	}
	return shares, provider.Lookup(t.house.cfg.Model).Window
}

// stats are the numbers of this session.
func (t *talk) stats(context.Context) (string, error) {
	tally := stats.New(time.Local)
	for _, e := range t.events() {
		tally.Add(e)
	}
	var b strings.Builder
	err := printStats(&b, tally.Report())
	return b.String(), err
}

// usable are the models that could be used now.
func (t *talk) usable(ctx context.Context) []string {
	var models []string
	for _, p := range t.modelList(ctx, t.house.cfg).Providers {
		if p.Usable {
			models = append(models, p.Models...)
		}
	}
	return models
}

func (t *talk) trust() (string, error) {
	g, err := t.book().Trust(t.house.dir, time.Now())
	if err != nil {
		return "", err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s is trusted with %d files, from the next start on:\n", t.house.dir, len(g.Items))
	for _, it := range g.Items {
		fmt.Fprintf(&b, "  %.12s  %s\n", it.Hash, it.Path)
	}
	return b.String(), nil
}

func (t *talk) fork(ctx context.Context) (string, error) {
	if err := t.house.store.Flush(ctx); err != nil {
		return "", err
	}
	forked, err := t.forked(ctx, t.house.store, t.house.id)
	if err != nil {
		return "", err
	}
	return "Forked. /resume " + forked.ID + " goes on there; this session stays as it is.", nil
}

// resume chooses the session that follows this one.
func (t *talk) resume(ctx context.Context, id string) error {
	found, err := t.find(ctx, t.house.store, id)
	if err != nil {
		return err
	}
	t.next = found.ID
	return nil
}

// files are the files of the project, for completion.
func (t *talk) files() []string {
	list, err := walk.List(context.Background(), t.house.dir, walk.Options{Home: t.env.Home})
	if err != nil && len(list) == 0 {
		return nil // completion offers nothing then; the tools will tell why
	}
	const most = 50_000
	names := make([]string, 0, min(len(list), most))
	for _, e := range list[:min(len(list), most)] {
		names = append(names, e.Path)
	}
	return names
}

// shell runs a command of the person, who may do anything here.
func (t *talk) shell(ctx context.Context, line string, progress func(string)) (string, error) {
	exit, err := t.house.jail.Start(ctx, tool.Command{
		Argv: []string{"sh", "-c", line}, Dir: t.house.dir, Env: tool.Environment{Inherit: true}, Merge: true,
		Output: func(chunk []byte, _ bool) { progress(string(chunk)) },
	}, tool.Grant{Net: true, Unconfined: true})
	if err != nil {
		return "", fmt.Errorf("running %s: %w", line, err)
	}
	return string(exit.Stdout), nil
}

// remember keeps words for later sessions; the first ones name this session.
func (t *talk) remember(words string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.titled && t.house.last == 0 && !command.Is(words) && !strings.HasPrefix(words, "!") {
		t.titled = true
		t.change(func(s *store.Session) { s.Title = toolkit.FirstLine(words) })
	}
	if t.house.cfg.Ephemeral {
		return
	}
	raw, err := json.Marshal(words)
	if err != nil || len(raw) > 64<<10 {
		return
	}
	f, err := os.OpenFile(t.historyFile(), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return // nothing of the session is lost by it
	}
	defer f.Close()
	f.Write(append(raw, '\n'))
}

// change changes what is kept of the session itself. It is found by its time also
// when that cannot be.
func (t *talk) change(do func(*store.Session)) {
	s, err := t.house.store.Session(context.Background(), t.house.id)
	if err != nil {
		return
	}
	do(&s)
	_ = t.house.store.Update(context.Background(), s)
}

func (a *app) historyFile() string { return filepath.Join(a.places().Data, "prompts.jsonl") }

// said are the prompts of earlier sessions, as many as a person looks through.
func (t *talk) said() []string {
	f, err := os.Open(t.historyFile())
	if err != nil {
		return nil
	}
	defer f.Close()
	const most, tail = 1000, 1 << 20
	if info, err := f.Stat(); err == nil && info.Size() > tail {
		f.Seek(-tail, 2)
	}
	var all []string
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var words string
		if json.Unmarshal(lines.Bytes(), &words) == nil {
			all = append(all, words)
		}
	}
	return all[max(0, len(all)-most):]
}

// tidy takes a session away in which nothing was said. It reports whether there
// was something, so that the session can go on.
func (t *talk) tidy(ctx context.Context) (goesOn bool, err error) {
	for _, e := range t.events() {
		if e.Kind == convo.KindUser || e.Kind == convo.KindCommand {
			return true, nil
		}
	}
	h := t.house
	if err := h.store.End(ctx, h.id); err != nil {
		return false, err
	}
	return false, h.store.Remove(ctx, h.id)
}
