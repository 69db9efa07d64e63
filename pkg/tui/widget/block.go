package widget

import (
	"github.com/batchjob-dev/kubectl-batchjob/pkg/layout"
)

// Block is a part with a heading.
type Block []layout.Line

// Stack puts blocks below each other, with an empty line between them if there is room.
func Stack(blocks []Block, height int) []layout.Line {
	n, filled := 0, 0
	for _, b := range blocks {
		if len(b) > 0 {
			n, filled = n+len(b), filled+1
		}
	}
	airy := n+filled-1 <= height
	var lines []layout.Line
	for _, b := range blocks {
		if airy && len(lines) > 0 && len(b) > 0 {
			lines = append(lines, nil)
		}
		lines = append(lines, b...)
	}
	return lines
}

// Titled is a block with a heading, nil without lines.
func Titled(heading layout.Line, lines []layout.Line) Block {
	if len(lines) == 0 {
		return nil
	}
	return append(Block{heading}, lines...)
}
