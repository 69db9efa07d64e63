package widget

// The keys of several screens, most of them as in k9s, less and vim.
//
//nolint:gochecknoglobals // constants: a Binding has no literal
var (
	KeyUp       = Bind("↑/k", "up", "up", "k")
	KeyDown     = Bind("↓/j", "down", "down", "j")
	KeyLeft     = Bind("←/h", "left", "left", "h")
	KeyPageUp   = Bind("pgup/b", "page up", "pgup", "b", "ctrl+b", "ctrl+u")
	KeyPageDown = Bind("pgdn/f", "page down", "pgdown", "f", "ctrl+f", "ctrl+d")
	KeyTop      = Bind("g", "first", "g", "home")
	KeyBottom   = Bind("G", "last", "G", "end")
	KeyOpen     = Bind("enter", "open", "enter")

	KeySort    = Bind("s", "sort", "s")
	KeyReverse = Bind("S", "reverse", "S")
	keyClear   = Bind("esc", "clear the filter", "esc")
	KeyFilter  = Bind("/", "filter", "/")
	KeyExplain = Bind("e", "explain", "e")
	KeyLogs    = Bind("l", "logs", "l")
	KeyCopy    = Bind("y", "copy", "y")
)
