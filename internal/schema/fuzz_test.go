package schema

import (
	"bytes"
	"encoding/json"
	"testing"
)

// FuzzRead holds Read to its promises for any text and every tool of the
// corpus: what it accepts is valid, and reads again as itself without repairs.
func FuzzRead(f *testing.F) {
	rows, tools := calls(f)
	names := sortedNames(tools)
	for _, c := range rows {
		for i, name := range names {
			if name == c.Tool {
				f.Add([]byte(c.Raw), uint8(i), c.Tool == "bash")
			}
		}
	}
	f.Fuzz(func(t *testing.T, raw []byte, tool uint8, refuse bool) {
		o := tools[names[int(tool)%len(names)]]
		unknown := DropUnknown
		if refuse {
			unknown = RefuseUnknown
		}
		args, err := o.Read(raw, unknown)
		if err != nil {
			if err.Error() == "" {
				t.Error("an error without words")
			}
			return
		}
		var plain any
		if err := json.Unmarshal(args.Value, &plain); err != nil {
			t.Fatalf("%q gave %q, which is not JSON: %v", raw, args.Value, err)
		}
		if err := judgeOf(t, o.JSON()).Validate(plain); err != nil {
			t.Fatalf("%q gave %q, which is not valid: %v", raw, args.Value, err)
		}
		again, err := o.Read(args.Value, RefuseUnknown)
		if err != nil || len(again.Repairs) > 0 || !bytes.Equal(again.Value, args.Value) {
			t.Fatalf("%q gave %q, which read again gives %q, %q, %v", raw, args.Value, again.Value, again.Repairs, err)
		}
	})
}

// FuzzScan compares the scanner with encoding/json: valid JSON is read without
// repairs as the same value, unless we refuse it, and nothing is read without
// repairs that is not valid.
func FuzzScan(f *testing.F) {
	rows, _ := calls(f)
	for _, c := range rows {
		f.Add([]byte(c.Raw))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		v, repairs, err := scan(raw)
		if err != nil {
			return
		}
		out := v.appendTo(nil)
		if !json.Valid(out) {
			t.Fatalf("%q was written as %q", raw, out)
		}
		if valid := json.Valid(raw); valid != (len(repairs) == 0) {
			t.Fatalf("%q: valid %v, but repairs are %q", raw, valid, repairs)
		}
		if len(repairs) == 0 && !sameJSON(raw, out) {
			t.Fatalf("%q was read as %q", raw, out)
		}
	})
}

// FuzzParse checks that a schema which is accepted can be used and written in
// all its forms, and that each reads again as the same.
func FuzzParse(f *testing.F) {
	_, tools := calls(f)
	for _, name := range sortedNames(tools) {
		f.Add([]byte(tools[name].JSON()), []byte(`{"path":"a","x":[1,"2",null]}`))
		f.Add([]byte(tools[name].Flat()), []byte(`{"path":"a"}`))
	}
	for _, row := range forms() {
		f.Add([]byte(row.in), []byte(`{"x":"1","a":{"b":1}}`))
	}
	f.Fuzz(func(t *testing.T, raw, args []byte) {
		o, err := Parse(raw)
		if err != nil {
			return
		}
		for _, form := range [][]byte{o.Flat(), must(o.MarshalJSON())} {
			again, err := Parse(form)
			if err != nil {
				t.Fatalf("%q was written as %q: %v", raw, form, err)
			}
			if a, b := must(o.MarshalJSON()), must(again.MarshalJSON()); !bytes.Equal(a, b) {
				t.Fatalf("%q was written as %q: %q is now %q", raw, form, a, b)
			}
		}
		o.Properties()
		if got, err := o.Read(args, DropUnknown); err == nil && !json.Valid(got.Value) {
			t.Fatalf("%q by %q gave %q", args, raw, got.Value)
		}
	})
}
