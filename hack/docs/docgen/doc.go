// Package docgen writes the reference of the command line as Markdown.
//
// It reads only a tree of cobra commands: the same tree gives the same bytes on every machine. Defaults that depend on
// the machine are shown in a general form.
package docgen
