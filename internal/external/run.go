package external

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"ikigai/internal/tool"
	"ikigai/internal/toolkit"
)

// keptOutput is how much of each stream a Failure keeps, head and tail.
const keptOutput = 16 << 10

// A call is one run of a tool.
type call struct {
	at       tool.Place
	args     json.RawMessage
	grant    tool.Grant
	progress tool.Progress
	limit    time.Duration
}

// run starts the executable, gives it the arguments and takes its answer.
func (t *Tool) run(ctx context.Context, c call) tool.Result {
	now, err := t.current()
	if err != nil {
		return t.fail(nil, tool.ToolNotFound, "Tool '%s' is gone: %v", t.known.name, err)
	}
	if t.Approved() && !t.approvedAs(now) {
		return t.fail(nil, tool.PermissionDenied,
			"Tool '%s' was changed since it was approved; refresh the tools, then the person can approve it again", t.known.name)
	}
	ctx, cancel := context.WithTimeout(ctx, c.limit)
	defer cancel()
	out, err := start(ctx, c.at.Start, t.command(c, t.approvedAs(now)), t.grant(c), outputLimit(c.at.Limits))
	if err != nil {
		return t.fail(nil, tool.ToolCrashed, "Tool '%s' could not be started: %v", t.known.name, err)
	}
	r := t.result(c, out)
	if len(out.Refused) > 0 {
		r.Notes = append(r.Notes, "the sandbox refused: "+strings.Join(out.Refused, "; "))
	}
	return r
}

// current is the identity of what would run now. The executable is read only
// when it is not the one that was scanned.
func (t *Tool) current() (Identity, error) {
	i := t.Identity()
	now, err := statOf(t.file.path)
	if err != nil || now.same(t.file.stamp) {
		return i, err
	}
	i.Executable, err = sumOf(t.file.path)
	return i, err
}

func outputLimit(l tool.Limits) int {
	if l.Output > 0 {
		return l.Output
	}
	return tool.DefaultOutput
}

// command is the program with what it may know. What it asks for from the
// person's environment it gets once it was approved.
func (t *Tool) command(c call, approved bool) tool.Command {
	cmd := tool.Command{
		Argv: []string{t.file.path}, Dir: c.at.Files.Dir(), Stdin: c.args,
		Env: tool.Environment{Set: []string{
			"IKIGAI_CALL=" + c.at.Call, "IKIGAI_SESSION=" + c.at.Session, "IKIGAI_SESSION_DIR=" + c.at.Dir,
		}},
	}
	if approved {
		cmd.Env.Allow = t.Env()
	}
	if c.progress != nil {
		cmd.Output = func(chunk []byte, _ bool) { c.progress(string(chunk)) }
	}
	return cmd
}

// grant adds the tool's own folder for reading, and the session's own, where a
// tool may keep what it must remember.
func (t *Tool) grant(c call) tool.Grant {
	g := t.file.readable(c.grant)
	if c.at.Dir != "" {
		g.Write = append(slices.Clip(g.Write), c.at.Dir)
	}
	return g
}

// result judges how the program ended and what it printed.
func (t *Tool) result(c call, out output) tool.Result {
	name := t.known.name
	code := out.Code
	switch {
	case out.tooLarge:
		return t.fail(&out, tool.OutputTooLarge, "Tool '%s' printed more than %d bytes", name, outputLimit(c.at.Limits))
	case out.How == tool.TimedOut:
		return t.fail(&out, tool.ToolTimeout, "Tool '%s' timed out after %s", name, seconds(c.limit))
	case out.How == tool.Cancelled:
		return t.fail(&out, tool.CallCancelled, "Tool '%s' was cancelled", name)
	case out.How == tool.Signalled:
		return t.fail(&out, tool.ToolCrashed, "Tool '%s' crashed with %s%s", name, ending(out.Exit), refused(out.Exit))
	case code != 0:
		r := t.fail(&out, tool.ToolCrashed, "Tool '%s' ended with %s%s", name, ending(out.Exit), refused(out.Exit))
		r.Failure.ExitCode = &code
		return r
	}
	r, err := answer(c.at, name, out.Stdout)
	if err != nil {
		r = t.fail(&out, tool.InvalidJSONOutput, "Tool '%s' gave no usable answer: %v", name, err)
		r.Failure.ExitCode = &code
	}
	return r
}

// refused ends a sentence with what the jail stopped: often the very reason.
func refused(e tool.Exit) string {
	if len(e.Refused) == 0 {
		return ""
	}
	return "; the sandbox refused: " + strings.Join(e.Refused, "; ")
}

// seconds is a duration as the seed writes it: 30s, and no 2m30s.
func seconds(d time.Duration) string { return fmt.Sprintf("%gs", d.Seconds()) }

func (t *Tool) fail(out *output, code tool.Code, format string, args ...any) tool.Result {
	r := tool.Fail(tool.Call{Name: t.known.name}, code, format, args...)
	if out != nil {
		r.Took = out.Took
		r.Failure.Stdout, r.Failure.Stderr = kept(out.Stdout), kept(out.Stderr)
	}
	return r
}

// kept cuts what was printed to the size that a failure carries.
func kept(printed []byte) string {
	if n := len(printed); n > keptOutput {
		head, tail := printed[:keptOutput/2], printed[n-keptOutput/2:]
		printed = fmt.Appendf(nil, "%s\n[... %d bytes left out ...]\n%s", head, n-keptOutput, tail)
	}
	return strings.ToValidUTF8(string(printed), "\uFFFD")
}

// answer reads what a tool printed. The display member is for the screen only;
// an answer longer than a model should see is shortened, and stays whole in a
// file of the session.
func answer(at tool.Place, name string, printed []byte) (tool.Result, error) {
	o, err := readObject(printed)
	if err == nil && o.flawed {
		o, err = o.mended()
	}
	if err != nil {
		return tool.Result{}, err
	}
	r := tool.Result{Name: name, Display: o.get("display")}
	o = o.without("display")
	r.Data = o.encode()
	r.Summary = toolkit.Summarize(r.Data)
	if short, cut := shorten(at, o, r.Data); cut {
		r.Data, r.Truncated = short, true
	}
	return r, nil
}

// shorten cuts the output member when that is the long one, else the whole text.
func shorten(at tool.Place, o object, whole json.RawMessage) (json.RawMessage, bool) {
	var output string
	rest := o.without("output", "truncated", "total_bytes", "full_output")
	if raw := o.get("output"); len(raw) < len(whole)/2 || json.Unmarshal(raw, &output) != nil {
		rest, output = object{}, string(whole)
	}
	shown := toolkit.Show(at, output)
	if !shown.Cut() {
		return nil, false
	}
	raw, err := tool.Encode(shown)
	if err != nil {
		return nil, false // three plain fields always encode
	}
	cut, err := readObject(raw)
	return object{members: append(cut.members, rest.members...)}.encode(), err == nil
}
