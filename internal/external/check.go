package external

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"ikigai/internal/tool"
)

// A Finding is one rule of docs/tool-protocol.md and whether a tool keeps it.
type Finding struct {
	Rule string // the word the document uses
	OK   bool
	Why  string // what is wrong; what was seen, when nothing is
}

// String is one line for a person.
func (f Finding) String() string {
	word := "fail"
	if f.OK {
		word = "pass"
	}
	return fmt.Sprintf("%s  %-8s  %s", word, f.Rule, f.Why)
}

// Check tries every rule of the protocol on the executable at path. It is asked
// for its schema twice, and called twice in an empty folder: once with arguments
// that are not JSON, once with an empty object. A rule that could not be tried
// because an earlier one is broken counts as broken. Of o only Start and Timeout
// matter.
func Check(ctx context.Context, path string, o Options) []Finding {
	if o.Timeout <= 0 {
		o.Timeout = DefaultTimeout
	}
	c := &checker{timeout: o.Timeout}
	c.run = func(cmd tool.Command, limit time.Duration, size int) (output, error) {
		return runWithin(ctx, o.Start, c.file, cmd, limit, size)
	}
	for _, r := range []struct {
		rule string
		try  func() (string, error)
	}{
		{"file", func() (string, error) { return c.checkFile(path) }},
		{"owner", c.checkOwner},
		{"schema", c.checkSchema},
		{"object", c.checkObject},
		{"fields", c.checkFields},
		{"name", c.checkName},
		{"stable", c.checkStable},
		{"broken", c.checkBroken},
		{"empty", c.checkEmpty},
	} {
		c.judge(r.rule, r.try)
	}
	return c.findings
}

// A checker holds what the rules before found out.
type checker struct {
	timeout  time.Duration // for --schema
	run      func(cmd tool.Command, limit time.Duration, size int) (output, error)
	findings []Finding
	broken   string // the first rule without which the others cannot be tried

	file   file
	schema output
	doc    *document
}

// errGoOn marks a failure that does not keep the later rules from being tried.
type errGoOn struct{ error }

func (c *checker) judge(rule string, try func() (string, error)) {
	if c.broken != "" {
		c.findings = append(c.findings, Finding{rule, false, "not tried: " + c.broken + " comes first"})
		return
	}
	saw, err := try()
	if err == nil {
		c.findings = append(c.findings, Finding{rule, true, saw})
		return
	}
	if !errors.As(err, new(errGoOn)) {
		c.broken = rule
	}
	c.findings = append(c.findings, Finding{rule, false, err.Error()})
}

// checkFile is the rule file: a program with a name that a tool can have.
func (c *checker) checkFile(path string) (string, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	dir := folder{path: filepath.Dir(abs)}
	if dir.stamp, err = statOf(dir.path); err != nil {
		return "", err
	}
	c.file, err = examine(dir, filepath.Base(abs), nil)
	if r := (*refusal)(nil); errors.As(err, &r) && r.reason != UnsafePermissions {
		return "", err
	}
	return fmt.Sprintf("a regular, executable file that may offer %s", c.file.name), nil
}

// checkOwner is the rule owner: nobody else could have changed it.
func (c *checker) checkOwner() (string, error) {
	dir, err := statOf(filepath.Dir(c.file.path))
	if err == nil {
		err = folder{filepath.Dir(c.file.path), dir}.trusted()
	}
	if err == nil {
		_, err = examine(folder{path: filepath.Dir(c.file.path)}, filepath.Base(c.file.path), nil)
	}
	if err != nil {
		return "", err // and it is not started
	}
	return "only you or root can change it", nil
}

func (c *checker) asking() tool.Command {
	return tool.Command{Argv: []string{c.file.path, "--schema"}}
}

// checkSchema is the rule schema: --schema ends well and in time.
func (c *checker) checkSchema() (string, error) {
	var err error
	c.schema, err = c.run(c.asking(), c.timeout, maxSchema)
	if err != nil {
		return "", err
	}
	if c.schema.tooLarge {
		return "", fmt.Errorf("the schema has more than %d bytes", maxSchema)
	}
	return fmt.Sprintf("--schema answered in %v", c.schema.Took.Round(time.Millisecond)), ended(c.schema)
}

// checkObject is the rule object: the schema is one JSON object.
func (c *checker) checkObject() (string, error) {
	if _, err := readObject(c.schema.Stdout); err != nil {
		return "", fmt.Errorf("the schema: %w", err)
	}
	return fmt.Sprintf("the schema is one JSON object of %d bytes", len(c.schema.Stdout)), nil
}

// checkFields is the rule fields: every member is of its kind.
func (c *checker) checkFields() (string, error) {
	var err error
	if c.doc, err = readDocument(c.schema.Stdout); err != nil {
		return "", err
	}
	return fmt.Sprintf("%d parameters, risk %s, effects %v", len(c.doc.parameters.Properties()), c.doc.risk, c.doc.effects), nil
}

// checkName is the rule name: the file offers what it is called.
func (c *checker) checkName() (string, error) {
	if !offers(c.file.name, c.doc.name) {
		return "", errGoOn{fmt.Errorf("the file %s offers a tool called %q", filepath.Base(c.file.path), c.doc.name)}
	}
	return "the tool is called " + c.doc.name, nil
}

// checkStable is the rule stable: asked again, it says the same.
func (c *checker) checkStable() (string, error) {
	again, err := c.run(c.asking(), c.timeout, maxSchema)
	if err != nil {
		return "", err
	}
	if !bytes.Equal(again.Stdout, c.schema.Stdout) {
		return "", errGoOn{errors.New("asked twice, --schema printed two different texts")}
	}
	return "asked twice, --schema printed the same", nil
}

// checkBroken is the rule broken: what is not JSON gets an error as its answer.
func (c *checker) checkBroken() (string, error) {
	o, err := c.call("this is not JSON")
	if err == nil {
		err = reportsError(o)
	}
	if err != nil {
		return "", errGoOn{err}
	}
	return "arguments that are not JSON are answered with an error", nil
}

// checkEmpty is the rule empty: without arguments it answers, and with an error
// when it needs some.
func (c *checker) checkEmpty() (string, error) {
	o, err := c.call("{}")
	if err != nil {
		return "", errGoOn{err}
	}
	for _, p := range c.doc.parameters.Properties() {
		if !p.Required {
			continue
		}
		if err := reportsError(o); err != nil {
			return "", errGoOn{fmt.Errorf("%s is required and was not given: %w", p.Name, err)}
		}
		return "a call without arguments is answered with an error", nil
	}
	return "a call without arguments is answered", nil
}

// call runs the tool once in an empty folder and reads its answer.
func (c *checker) call(stdin string) (object, error) {
	limit := tool.Limits{}.Deadline(tool.Spec{Timeout: c.doc.timeout}, tool.Plan{})
	out, err := c.run(tool.Command{Argv: []string{c.file.path}, Stdin: []byte(stdin)}, limit, tool.DefaultOutput)
	if err != nil {
		return object{}, err
	}
	if out.tooLarge {
		return object{}, fmt.Errorf("the answer has more than %d bytes", tool.DefaultOutput)
	}
	if err := ended(out); err != nil {
		return object{}, err
	}
	o, err := readObject(out.Stdout)
	if err != nil {
		return o, fmt.Errorf("the answer: %w", err)
	}
	return o, nil
}

func runWithin(ctx context.Context, begin tool.StartFunc, f file, cmd tool.Command, limit time.Duration, size int) (output, error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	out, err := startAside(ctx, begin, f, cmd, size)
	if err == nil && out.How == tool.TimedOut {
		err = fmt.Errorf("it did not end within %v", limit)
	}
	return out, err
}

func ended(out output) error {
	if out.How != tool.Exited || out.Code != 0 {
		return fmt.Errorf("it ended with %s%s; want exit status 0", ending(out.Exit), saying(out.Stderr))
	}
	return nil
}

// reportsError reports whether an answer is an error in the common form.
func reportsError(o object) error {
	for _, name := range []string{"error", "error_code"} {
		var s string
		if json.Unmarshal(o.get(name), &s) != nil || s == "" {
			return fmt.Errorf("the answer has no text in %q", name)
		}
	}
	return nil
}
