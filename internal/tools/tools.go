// Package tools is the table of built-in tools, one folder and one line each, and
// the toolsets that are made of it.
package tools

import (
	"ikigai/internal/tool"
	"ikigai/internal/toolkit"
	"ikigai/internal/tools/add_task"
	"ikigai/internal/tools/bash"
	"ikigai/internal/tools/file_edit"
	"ikigai/internal/tools/file_info"
	"ikigai/internal/tools/file_read"
	"ikigai/internal/tools/file_write"
	"ikigai/internal/tools/filesystem"
	"ikigai/internal/tools/get_current_time"
	"ikigai/internal/tools/get_file_tree"
	"ikigai/internal/tools/get_working_directory"
	"ikigai/internal/tools/glob"
	"ikigai/internal/tools/grep"
	"ikigai/internal/tools/insert_lines"
	"ikigai/internal/tools/job_kill"
	"ikigai/internal/tools/job_output"
	"ikigai/internal/tools/list_tasks"
	"ikigai/internal/tools/ls"
	"ikigai/internal/tools/recall"
	"ikigai/internal/tools/replace_lines"
	"ikigai/internal/tools/update_task"
	"ikigai/internal/tools/web_fetch"
	"ikigai/internal/tools/web_search"
)

// A line is a tool, its names elsewhere, and the toolsets that offer it and that
// understand it without offering it. A toolset that offers a tool, under
// whatever name, understands all of its names.
type line struct {
	tool       tool.Tool
	names      func() []toolkit.Alias
	offered    string
	understood string
}

// Options are what a session chooses about its tools.
type Options struct {
	Search string // the engine of web_search; empty means what the environment says
	Fetch  bool   // web_fetch is offered too
	Strict bool   // paths stay below the working folder, none is absolute
}

// table is all there is. A tool that is offered as a job is offered once a job
// runs; one of the past by every toolset, once something was left out of what the
// model sees; one that nobody offers has to be asked for by name.
func table(o Options) []line {
	search, fetch := web_search.New(web_search.Options{Engine: o.Search}), ""
	if o.Fetch {
		fetch = "default ikigai localharness swebash"
	}
	return []line{
		{bash.Tool, bash.Aliases, "default ikigai", "swebash"},
		{file_read.Tool, file_read.Aliases, "default ikigai", "localharness swebash"},
		{file_write.Tool, file_write.Aliases, "default ikigai", "localharness"},
		{file_edit.Tool, file_edit.Aliases, "default ikigai", ""},
		{glob.Tool, glob.Aliases, "default ikigai", ""},
		{grep.Tool, grep.Aliases, "default ikigai", "localharness"},
		{ls.Tool, ls.Aliases, "default localharness", "ikigai swebash"},
		{get_file_tree.Tool, get_file_tree.Aliases, "default localharness", "ikigai"},
		{file_info.Tool, file_info.Aliases, "default", "ikigai swebash"},
		{replace_lines.Tool, replace_lines.Aliases, "default localharness", "ikigai"},
		{insert_lines.Tool, insert_lines.Aliases, "default localharness", "ikigai"},
		{get_current_time.Tool, get_current_time.Aliases, "default localharness", "ikigai"},
		{get_working_directory.Tool, get_working_directory.Aliases, "default localharness", "ikigai"},
		{add_task.Tool, add_task.Aliases, "default localharness", "ikigai"},
		{list_tasks.Tool, list_tasks.Aliases, "default localharness", "ikigai"},
		{update_task.Tool, update_task.Aliases, "default localharness", "ikigai"},
		{search, func() []toolkit.Alias { return web_search.Aliases(search) }, "default swebash", ""},
		{web_fetch.Tool, web_fetch.Aliases, fetch, ""},
		{job_output.Tool, job_output.Aliases, "job", "default ikigai"},
		{job_kill.Tool, job_kill.Aliases, "job", "default ikigai"},
		{recall.Tool, recall.Aliases, "past", ""},
		{filesystem.Tool, filesystem.Aliases, "swebash", ""},
	}
}

// All are the tools of the default toolset, those that are installed as programs.
func All() []tool.Tool {
	s, err := Set("default", Options{})
	if err != nil {
		panic(err) // it is one of ours
	}
	return s.Tools
}

// every is all built-in tools under their own names.
func every() []tool.Tool {
	var all []tool.Tool
	for _, l := range table(Options{}) {
		all = append(all, l.tool)
	}
	return all
}

// Find gives a tool by its name, or by the one that a toolset offers it under.
func Find(name string) (tool.Tool, bool) {
	for _, l := range table(Options{}) {
		if t, ok := l.find(name); ok {
			return t, true
		}
	}
	return nil, false
}

func (l line) find(name string) (tool.Tool, bool) {
	if l.tool.Spec().Name == name {
		return l.tool, true
	}
	for _, a := range l.names() {
		if a.Set != "" && a.Name.Name == name {
			return a, true
		}
	}
	return nil, false
}
