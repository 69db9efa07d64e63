package tui

import (
	"os"
	"testing"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/indexmap"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/widget"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// docs/tui.md documents all marks of the map, and all keys in the help.
func TestDocumentationNamesAllKeysAndMarks(t *testing.T) {
	data, err := os.ReadFile("../../docs/tui.md")
	assert.NoError(t, err)
	docs := string(data)
	for m := range indexmap.Marks {
		for _, ascii := range []bool{false, true} {
			assert.Contains(t, docs, "`"+m.Glyph(ascii)+"`", "marks")
		}
	}
	groups := []widget.KeyGroup{{Bindings: append(globals(), keyRetry, keyOwner, keyHold, keyDelete, keyNamespace, keyAll, keyFailedLogs, keyYAML)}}
	for _, opened := range everyScreen(t) {
		groups = append(groups, opened().screens.top().Keys()...)
	}
	for _, g := range groups {
		for _, b := range g.Bindings {
			switch first := b.Keys()[0]; first {
			case "up", "down", "left", "right": // They are documented as arrows.
			default:
				assert.Contains(t, docs, "`"+first+"`", first, b.Help().Desc)
			}
		}
	}
}
