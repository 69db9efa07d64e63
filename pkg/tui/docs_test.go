package tui

import (
	"os"
	"strings"
	"testing"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/indexmap"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/snapshot"
)

// docs/tui.md tells all marks of the map, and all keys that the help tells.
func TestDocumentationNamesAllKeysAndMarks(t *testing.T) {
	data, err := os.ReadFile("../../docs/tui.md")
	if err != nil {
		t.Fatal(err)
	}
	docs := string(data)
	for m := range indexmap.Marks {
		for _, ascii := range []bool{false, true} {
			if g := m.Glyph(ascii); !strings.Contains(docs, "`"+g+"`") {
				t.Errorf("the mark %s is missing", g)
			}
		}
	}
	key := snapshot.JobKey{Namespace: "ns", Name: "a"}
	job, pod := newJobScreen(key), newPodScreen(key, "p", nil)
	var groups []keyGroup
	for i := range job.tabs.panes {
		groups = append(groups, job.tabs.panes[i].keys()...)
	}
	for i := range pod.tabs.panes {
		groups = append(groups, pod.tabs.panes[i].keys()...)
	}
	groups = append(append(append(groups, job.keys()...), pod.keys()...), newJobsScreen("").keys()...)
	groups = append(append(groups, newExplainScreen(key).keys()...), keyGroup{bindings: []binding{keyPause, keyTimes, keySave, keyMouse, keySuspend, keyRedraw, keyQuit, keyHelp}})
	for _, g := range groups {
		for _, b := range g.bindings {
			switch first := b.Keys()[0]; first {
			case "up", "down", "left", "right": // They are told as arrows.
			default:
				if !strings.Contains(docs, "`"+first+"`") {
					t.Errorf("the key %s (%s) is missing", first, b.Help().Desc)
				}
			}
		}
	}
}
