package tui

// The keys. k9s, less and vim gave most of them.
//
//nolint:gochecknoglobals // constants in all but form: a Binding has no literal
var (
	keyUp    = bind("↑/k", "up", "up", "k")
	keyDown  = bind("↓/j", "down", "down", "j")
	keyLeft  = bind("←/h", "left", "left", "h")
	keyRight = bind("→", "right", "right")
	// On the map, where all four directions are needed, l is one of them.
	keyMapRight = bind("→/l", "right", "right", "l")
	keyCursor   = bind("arrows/hjkl", "move the cursor", "up", "down", "left", "right", "h", "j", "k", "l")
	keyPageUp   = bind("pgup/b", "page up", "pgup", "b", "ctrl+b", "ctrl+u")
	keyPageDown = bind("pgdn/f", "page down", "pgdown", "f", "ctrl+f", "ctrl+d")
	keyTop      = bind("g", "first", "g", "home")
	keyBottom   = bind("G", "last", "G", "end")
	keyOpen     = bind("enter", "open", "enter")

	keyFilter  = bind("/", "filter", "/")
	keyHelp    = bind("?", "help", "?", "f1")
	keyBack    = bind("esc/q", "back", "esc", "q", "backspace")
	keyQuit    = bind("ctrl+c", "quit", "ctrl+c")
	keyPause   = bind("space", "pause", "space")
	keyTimes   = bind("r", "times relative/of day", "r")
	keySave    = bind("w", "write snapshot", "w")
	keyMouse   = bind("m", "mouse wheel/select text", "m")
	keyExplain = bind("e", "explain", "e")
	keyLogs    = bind("l", "logs", "l")
	keyCopy    = bind("y", "copy", "y")
	keyNextTab = bind("tab", "next tab", "tab")
	keyPrevTab = bind("shift+tab", "previous tab", "shift+tab")
	keyTabs    = bind("1-6", "tab", "1", "2", "3", "4", "5", "6", "7", "8", "9")
	keyLook    = bind("n", "next to look at", "n")
	keyLookUp  = bind("N", "previous to look at", "N")
	keyZoomIn  = bind("+", "zoom in", "+", "=")
	keyZoomOut = bind("-", "zoom out", "-", "_")
	keyZoomFit = bind("0", "fit all", "0")
	keyGoTo    = bind("/", "go to an index", "/")
	keyRedraw  = bind("ctrl+l", "redraw", "ctrl+l")
	keySuspend = bind("ctrl+z", "suspend", "ctrl+z")
)
