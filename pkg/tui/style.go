package tui

import "github.com/batchjob-dev/kubectl-batchjob/pkg/layout"

// styleOf is short for the styles of package layout.
type styleOf = layout.Style

const (
	stylePlain   = layout.Plain
	styleMuted   = layout.Muted
	styleGood    = layout.Good
	styleBad     = layout.Bad
	styleWarn    = layout.Warn
	styleAccent  = layout.Accent
	styleInfo    = layout.Info
	styleSpecial = layout.Special
	bold         = layout.Bold
	reverse      = layout.Reverse
	underline    = layout.Underline
)
