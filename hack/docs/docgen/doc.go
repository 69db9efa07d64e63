// Package docgen writes the reference of the command line as Markdown.
//
// It reads a tree of cobra commands and nothing else: the same tree gives the same bytes on
// every machine. Defaults that depend on the machine are shown as what they are made of.
package docgen
