package conformance

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"testing"
)

// differences tells two JSON texts apart: one line for each place where a value
// was lost (-), added (+), changed (~) or, being text, put in a list (=) on the way
// from ours to theirs. Lost and added values are named when they are empty. Places
// in lists are not told apart, and every line comes once.
func differences(t *testing.T, ours, theirs []byte) []string {
	t.Helper()
	var a, b any
	if err := json.Unmarshal(ours, &a); err != nil {
		t.Fatalf("our body: %v\n%s", err, ours)
	}
	if err := json.Unmarshal(theirs, &b); err != nil {
		t.Fatalf("their body: %v\n%s", err, theirs)
	}
	seen := map[string]bool{}
	differ(a, b, "", seen)
	return slices.Sorted(maps.Keys(seen))
}

func differ(a, b any, path string, seen map[string]bool) {
	switch x := a.(type) {
	case map[string]any:
		if y, ok := b.(map[string]any); ok {
			differInFields(x, y, path, seen)
			return
		}
	case []any:
		if y, ok := b.([]any); ok && len(x) == len(y) {
			for i := range x {
				differ(x[i], y[i], path+"[]", seen)
			}
			return
		}
	}
	switch {
	case reflect.DeepEqual(a, b):
	case reflect.DeepEqual([]any{map[string]any{"type": "text", "text": a}}, b):
		seen["= "+path] = true
	default:
		seen["~ "+path] = true
	}
}

func differInFields(a, b map[string]any, path string, seen map[string]bool) {
	for name, x := range a {
		if y, ok := b[name]; ok {
			differ(x, y, path+"."+name, seen)
		} else {
			seen["- "+path+"."+name+small(x)] = true
		}
	}
	for name, y := range b {
		if _, ok := a[name]; !ok {
			seen["+ "+path+"."+name+small(y)] = true
		}
	}
}

// small names a value that says nothing.
func small(v any) string {
	raw, err := json.Marshal(v)
	if err != nil || !slices.Contains([]string{"null", "false", "0", `""`, "[]", "{}"}, string(raw)) {
		return ""
	}
	return " " + string(raw)
}

// overridden finds a value of a generated client that is carried along as raw
// JSON because no field could hold it. Null is no such value.
func overridden(p any) error { return overriddenIn(reflect.ValueOf(p), "") }

func overriddenIn(v reflect.Value, path string) error {
	if o, ok := asOverride(v); ok {
		if raw, _ := o.Overrides(); !isNull(raw) {
			return fmt.Errorf("%s is of no kind it knows: %s", path, raw)
		}
	}
	var errs []error
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			return overriddenIn(v.Elem(), path)
		}
	case reflect.Slice:
		for i := range v.Len() {
			errs = append(errs, overriddenIn(v.Index(i), path+"[]"))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Type().Field(i); f.IsExported() {
				errs = append(errs, overriddenIn(v.Field(i), path+"."+f.Name))
			}
		}
	}
	return errors.Join(errs...)
}

// isNull holds for an override that there is not, and for one that is null.
func isNull(override any) bool {
	raw, ok := override.(json.RawMessage)
	return !ok || string(raw) == "null"
}

type override interface{ Overrides() (any, bool) }

func asOverride(v reflect.Value) (override, bool) {
	if v.Kind() != reflect.Struct || !v.CanInterface() {
		return nil, false
	}
	o, ok := v.Interface().(override)
	return o, ok
}
