package convo

import (
	"encoding/json"
	"time"

	"ikigai/internal/tool"
)

// The bodies of which a session has thousands name their fields here, each as
// Marshal writes it, and are read by quick.

// either reads a body quickly or with encoding/json.
func either[B Body, P interface {
	*B
	field(q *quick, key []byte)
}](raw json.RawMessage, text string) (Body, error) {
	var b B
	if quickly(raw, P(&b).field) {
		return b, nil
	}
	return read[B](raw, text)
}

func (c *ToolCall) quick(raw []byte) bool {
	*c = ToolCall{}
	return quickly(raw, c.field) && c.Args != nil
}

func (c *ToolCall) field(q *quick, key []byte) {
	switch string(key) {
	case "id":
		c.ID = q.text()
	case "type":
		q.text()
	case "function":
		q.object(c.function)
	default:
		q.unknown()
	}
}

func (c *ToolCall) function(q *quick, key []byte) {
	switch string(key) {
	case "name":
		c.Name = q.text()
	case "arguments":
		c.Args = q.bytes()
	default:
		q.unknown()
	}
}

func (r *ToolResult) quick(raw []byte) bool {
	*r = ToolResult{}
	ok := quickly(raw, r.field) && r.Data != nil
	if r.Failure != nil {
		r.Data = nil // the output is the envelope of the failure
	}
	return ok
}

func (r *ToolResult) field(q *quick, key []byte) {
	switch string(key) {
	case "tool_call_id":
		r.CallID = q.text()
	case "name":
		r.Name = q.text()
	case "output":
		r.Data = q.bytes()
	case "success":
		q.truth()
	case "error_type":
		q.text()
	case "failure":
		r.failure(q)
	case "took_us":
		r.Took = time.Duration(q.int64()) * time.Microsecond
	case "at_ms":
		r.At = moment(q.int64())
	case "truncated":
		r.Truncated = q.truth()
	case "limit":
		r.Limit = q.int()
	case "notes":
		r.Notes = q.texts()
	case "display":
		r.Display = q.last()
	default:
		q.unknown()
	}
}

func (r *ToolResult) failure(q *quick) {
	if r.Failure == nil {
		r.Failure = &tool.Failure{}
	}
	f := r.Failure
	q.object(func(q *quick, key []byte) {
		switch string(key) {
		case "code":
			f.Code = tool.Code(q.text())
		case "message":
			f.Message = q.text()
		case "exit_code":
			f.ExitCode = q.count()
		case "stdout":
			f.Stdout = q.text()
		case "stderr":
			f.Stderr = q.text()
		default:
			q.unknown()
		}
	})
}

func (o *Opaque) field(q *quick, key []byte) {
	switch string(key) {
	case "dialect":
		o.Dialect = q.text()
	case "model":
		o.Model = q.text()
	case "data":
		o.Data = q.last()
	default:
		q.unknown()
	}
}

func (d *Decision) field(q *quick, key []byte) {
	switch string(key) {
	case "call_id":
		d.CallID = q.text()
	case "name":
		d.Name = q.text()
	case "allowed":
		d.Allowed = q.truth()
	case "by":
		d.By = By(q.text())
	case "rule":
		d.Rule = q.text()
	case "reason":
		d.Reason = q.text()
	case "risk":
		d.Risk = q.text()
	case "scope":
		d.Scope = q.text()
	default:
		q.unknown()
	}
}

func (u *Usage) field(q *quick, key []byte) {
	switch string(key) {
	case "model":
		u.Model = q.text()
	case "input":
		u.Input = q.count()
	case "output":
		u.Output = q.count()
	case "cache_read":
		u.CacheRead = q.count()
	case "cache_write":
		u.CacheWrite = q.count()
	case "reasoning":
		u.Reasoning = q.count()
	case "cost_usd":
		u.CostUSD = q.float()
	case "model_ms":
		u.ModelMS = q.int64()
	default:
		q.unknown()
	}
}
