// Package layout lays out lines of styled text for a terminal.
//
// A Span can be made by the functions of this package only, and they make its text safe
// (internal/sanitize): whatever the cluster sent, no line can hold a byte that a terminal
// obeys. Styles are roles, not colours; a Theme gives them their look when a line is
// rendered. Widths are in terminal columns.
package layout
