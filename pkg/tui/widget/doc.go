// Package widget has the components of screens: lists, scrollable text, filters, sorting, prompts, and key bindings. They are
// independent of Jobs.
//
// A widget draws with a Paint, and reads neither a clock nor the terminal.
package widget
