// Package layout lays out styled text for a terminal: lines, wrapping, tables, and pages of
// sections. The interactive view and the printed explanations are both made with it.
//
// A Span can be made by the functions of this package only, and they make its text safe
// (internal/sanitize): whatever the cluster sent, no line can hold a byte that a terminal
// obeys. Styles are roles, not colors; a Theme gives them their look when a line is
// rendered. Widths are in terminal columns.
//
// Themes are made with Lip Gloss, and widths are those of x/ansi. The rest does not fit:
// ansi.Truncate cuts a character from the marks on it, ansi.Wrap and lipgloss.Wrap know
// neither a hanging indent nor lists that break after commas, and lipgloss/table cannot drop
// columns. All of them work on strings that are styled already, and would parse each
// frame of the view again.
package layout
