package app

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"ikigai/internal/clean"
	"ikigai/internal/config"
	"ikigai/internal/convo"
	"ikigai/internal/headless"
	"ikigai/internal/store"
	"ikigai/internal/tool"
)

// trail walks the stored events of all sessions, or of those of one folder, the
// oldest session first.
func (a *app) trail(ctx context.Context, where, dir string, each func(store.Session, convo.Event) error) error {
	s, err := a.openStore(ctx, &config.Config{Settings: config.Settings{Store: where}, Origin: map[string]string{}})
	if err != nil {
		return err
	}
	err = walkTrail(ctx, s, dir, each)
	return errors.Join(err, s.Close())
}

func walkTrail(ctx context.Context, s store.Store, dir string, each func(store.Session, convo.Event) error) error {
	list, err := collect(ctx, s, dir)
	if err != nil {
		return err
	}
	for i := len(list) - 1; i >= 0; i-- {
		for e, err := range s.Events(ctx, list[i].ID, 0) {
			if err != nil {
				return storeFault(err)
			}
			if err := each(list[i], e); err != nil {
				return err
			}
		}
	}
	return nil
}

// An execution is one call of the trail with its decision and its outcome.
type execution struct {
	Session  string    `json:"session_id"`
	Seq      int64     `json:"seq"`
	At       time.Time `json:"at"`
	CallID   string    `json:"call_id"`
	Tool     string    `json:"tool"`
	Call     string    `json:"call"`
	Decision string    `json:"decision"` // allow, deny, or none for a call that never came to be judged
	By       convo.By  `json:"by,omitempty"`
	Rule     string    `json:"rule,omitempty"`
	Reason   string    `json:"reason,omitempty"`
	Outcome  string    `json:"outcome"` // ok, an error code, or open
}

func (a *app) auditCommand() *cobra.Command {
	c := &cobra.Command{Use: "audit", Short: "List every tool execution with its decision", Args: cobra.NoArgs}
	c.Flags().String("tool", "", "only of this tool")
	c.Flags().String("file", "", "only those whose arguments name this")
	c.Flags().String("decision", "", "only allow, deny or none")
	c.Flags().Bool("all", false, "of every folder")
	c.Flags().Bool("json", false, "print one JSON array")
	c.RunE = func(c *cobra.Command, _ []string) error {
		flag := func(name string) string { v, _ := c.Flags().GetString(name); return v }
		asJSON, _ := c.Flags().GetBool("json")
		all, _ := c.Flags().GetBool("all")
		return a.withStore(c, func(ctx context.Context, s store.Store, dir string) error {
			if all {
				dir = ""
			}
			list, err := executions(ctx, s, dir)
			if err != nil {
				return err
			}
			keep := []execution{}
			for _, x := range list {
				if x.fits(flag("tool"), flag("file"), flag("decision")) {
					keep = append(keep, x)
				}
			}
			if asJSON {
				return a.printJSON(keep)
			}
			for _, x := range keep {
				fmt.Fprintf(a.env.Stdout, "%s  %.8s #%d  %-5s %-22s %s  (%s)\n", x.At.Local().Format(time.DateTime), x.Session, x.Seq, x.Decision, x.Outcome, clean.Line(x.Call), clean.Line(x.Rule))
			}
			return nil
		})
	}
	c.AddCommand(a.auditVerifyCommand())
	return c
}

func (x execution) fits(tool, file, decision string) bool {
	return (tool == "" || x.Tool == tool) && (file == "" || strings.Contains(x.Call, file)) && (decision == "" || x.Decision == decision)
}

// executions pairs the calls of the trail with their decisions and results.
func executions(ctx context.Context, s store.Store, dir string) ([]execution, error) {
	var list []execution
	open := map[string]int{}
	err := walkTrail(ctx, s, dir, func(in store.Session, e convo.Event) error {
		key := func(call string) string { return in.ID + "/" + call }
		switch b := e.Body.(type) {
		case convo.ToolCall:
			open[key(b.ID)] = len(list)
			list = append(list, execution{Session: in.ID, Seq: e.Seq, At: e.At, CallID: b.ID, Tool: b.Name, Call: b.Summary(), Decision: "none", Outcome: "open"})
		case convo.Decision:
			if i, ok := open[key(b.CallID)]; ok {
				list[i].Decision, list[i].By, list[i].Rule, list[i].Reason = b.Word(), b.By, b.Rule, b.Reason
			}
		case convo.ToolResult:
			if i, ok := open[key(b.CallID)]; ok {
				list[i].Outcome = outcome(b.Result)
			}
		}
		return nil
	})
	return list, err
}

func outcome(r tool.Result) string {
	if code := r.Code(); code != "" {
		return string(code)
	}
	return "ok"
}

func (a *app) auditVerifyCommand() *cobra.Command {
	c := &cobra.Command{Use: "verify [SESSION]", Short: "Walk the hash chain and name the first broken link", Args: cobra.MaximumNArgs(1)}
	c.Flags().String("head", "", "the hash a run showed at its end; it must occur")
	c.RunE = func(c *cobra.Command, args []string) error {
		head, _ := c.Flags().GetString("head")
		return a.withStore(c, func(ctx context.Context, s store.Store, _ string) error {
			list, err := a.toVerify(ctx, s, args)
			if err != nil {
				return err
			}
			return a.verify(ctx, s, list, head)
		})
	}
	return c
}

func (a *app) toVerify(ctx context.Context, s store.Store, args []string) ([]store.Session, error) {
	if len(args) == 0 {
		return collect(ctx, s, "")
	}
	one, err := a.find(ctx, s, args[0])
	return []store.Session{one}, err
}

// verify walks the chains. A head that was shown once must occur in one of them.
func (a *app) verify(ctx context.Context, s store.Store, list []store.Session, head string) error {
	bad, events, seen := 0, int64(0), head == ""
	for _, one := range list {
		stored, err := s.Head(ctx, one.ID)
		if err != nil {
			return storeFault(err)
		}
		if err := store.Verify(one.ID, stored, s.Rows(ctx, one.ID, 0)); err != nil {
			bad++
			fmt.Fprintf(a.env.Stdout, "BROKEN  %s  %v\n", one.ID, err)
			continue
		}
		events += one.Events
		seen = seen || store.Verify(one.ID, stored, s.Rows(ctx, one.ID, 0), head) == nil
	}
	switch {
	case bad > 0:
		return &fault{headless.ExitFailure, fmt.Sprintf("%d of %d sessions are broken", bad, len(list)), "the events before the named one are as they were recorded"}
	case !seen:
		return &fault{headless.ExitFailure, "no session has the hash " + head, "events were cut off, or it is of another store"}
	}
	fmt.Fprintf(a.env.Stdout, "%d sessions, %d events: every link holds\n", len(list), events)
	return nil
}
