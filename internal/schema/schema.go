// Package schema describes the parameters of tools.
package schema

// An Object describes the parameters of a tool.
type Object struct{}
