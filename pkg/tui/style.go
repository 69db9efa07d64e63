package tui

import "github.com/batchjob-dev/kubectl-batchjob/pkg/tui/canvas"

// styleOf is short for the styles of a canvas.
type styleOf = canvas.Style

const (
	stylePlain   = canvas.Plain
	styleMuted   = canvas.Muted
	styleGood    = canvas.Good
	styleBad     = canvas.Bad
	styleWarn    = canvas.Warn
	styleAccent  = canvas.Accent
	styleInfo    = canvas.Info
	styleSpecial = canvas.Special
	bold         = canvas.Bold
	reverse      = canvas.Reverse
	underline    = canvas.Underline
)
