// Package widget has the parts that screens are made of: lists, text that is scrolled, filters,
// sorting, prompts, and key bindings. They know nothing of Jobs.
//
// A widget draws with a Paint, and reads neither a clock nor the terminal.
package widget
