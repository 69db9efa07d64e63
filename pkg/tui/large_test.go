package tui

import "testing"

// Issue 17: a large screen uses its room: for the timeline below the overview, full causes, and longer lists of indexes.
func TestMainScreensUseALargeTerminal(t *testing.T) {
	at := size{200, 60}
	shows(open(t, jobsSnapshot(someJobs()...), size{200, 24}, allNamespaces), "ACTIVE(READY)", "TERMINATING", "FAILED INDEXES")
	golden(t, "large.jobs", open(t, jobsSnapshot(someJobs()...), at, allNamespaces).picture())
	for name, keys := range map[string][]string{"overview": {}, "indexes": {"2"}, "failures": {"4"}, "pods": {"5"}, "explain": {"e"}} {
		b := open(t, load(t, "three-causes"), at, nil, keys...)
		checkFrame(t, b, at)
		golden(t, "large."+name, b.picture())
		switch name {
		case "overview":
			shows(b, "Timeline  the latest", "The Job was created")
		case "pods":
			shows(b, "Container main exited with code 137 (OOMKilled)")
		}
	}
	running := open(t, load(t, "running-success-policy"), at, nil)
	checkFrame(t, running, at)
	golden(t, "large.running", running.picture())
}
