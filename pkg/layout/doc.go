// Package layout lays out styled text for a terminal: lines, wrapping, tables, and pages of
// sections. The interactive view and the printed explanations are both made with it.
//
// Only the functions of this package create a Span, and they make its text safe (pkg/sanitize): whatever the
// cluster sent, no line contains a control sequence for the terminal. Styles are roles, not colors; a Theme defines
// their look when a line is rendered. Widths are in terminal columns.
//
// Themes are made with Lip Gloss, and widths are computed by x/ansi. The rest of these libraries does not fit:
// ansi.Truncate separates a character from its combining marks, ansi.Wrap and lipgloss.Wrap support neither a hanging
// indent nor lists that break after commas, and lipgloss/table cannot drop columns. All of them work on strings that
// are already styled, and would parse each frame of the view again.
package layout
