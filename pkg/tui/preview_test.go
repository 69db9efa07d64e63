package tui

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/types"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/snapshot"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// previewed returns a list with the preview of a recorded Job.
func previewed(t *testing.T, name string) *snapshot.Snapshot {
	t.Helper()
	s := load(t, name)
	s.Focus.Preview = true
	return s
}

func startJobs(o *Options) { o.Start = StartJobs }

// From 140 columns on, the Job under the cursor is shown beside the list; otherwise below it, if there is room for six lines.
// Requirements: VIE-04
func TestListShowsTheChosenJob(t *testing.T) {
	for _, name := range []string{"three-causes", "running-success-policy", "quota"} {
		for _, at := range []size{{80, 24}, {100, 30}, {120, 30}, {140, 30}, {160, 50}, {200, 50}} {
			b := open(t, previewed(t, name), at, startJobs)
			checkFrame(t, b, at)
			golden(t, "preview."+name+"."+at.String(), b.picture())
			shows(b, "1 Job", name+"/"+name+" ───", "run by ")
		}
		b := open(t, previewed(t, name), size{80, 14}, startJobs)
		checkFrame(t, b, size{80, 14})
		golden(t, "preview."+name+".six-lines", b.picture())
		for _, at := range []size{{99, 13}, {160, 13}} {
			b := open(t, previewed(t, name), at, startJobs)
			hides(b, name+"/"+name+" ")
			assert.Equalf(t, b.focus.looked.Job.Name, "", "%s: the list looks at %v", at, b.focus.looked)
		}
	}
}

// The preview's Focus is passed to the Source when the cursor rests, and opening the Job changes nothing else.
// Requirements: VIE-05
func TestPreviewWaitsForTheCursor(t *testing.T) {
	b := open(t, jobsSnapshot(someJobs()...), size{160, 50}, allNamespaces)
	looked := func() string {
		var names []string
		for _, f := range b.source.looked {
			name := f.Job.Name
			if f.Preview {
				name += "?"
			}
			names = append(names, name)
		}
		b.source.looked = nil
		return strings.Join(names, " ")
	}
	rest := func(name string) {
		key := types.NamespacedName{Namespace: "ml", Name: name}
		b.send(restMsg{Job: key, Preview: true})
	}
	b.View()
	b.press("g", "down", "down", "down")
	b.send(tickMsg(b.now))
	assert.Equal(t, looked(), "", "a moving cursor looks at")
	b.press("g", "down", "down")
	rest("evaluate") // The cursor has left this Job.
	assert.Equal(t, looked(), "", "a cursor that has left looks at")
	rest("sweep")
	assert.Equal(t, looked(), "sweep?", "a resting cursor looks at")
	b.send(tickMsg(b.now))
	b.press("enter")
	assert.Equal(t, looked(), "sweep", "an opened Job looks at")
	b.press("q")
	assert.Equal(t, looked(), "sweep?", "back in the list, it looks at")
	b.send(windowSize(80, 16))
	assert.Equal(t, looked(), "", "without room for a preview, it looks at")
}

// A recording shows the recorded preview, whatever is under the cursor, and does not open the Job in place of the list.
// Requirements: VIE-04
func TestRecordingShowsItsPreview(t *testing.T) {
	s := previewed(t, "three-causes")
	s.Jobs.Items = append(s.Jobs.Items, someJobs()...)
	b := open(t, s, size{160, 50}, func(o *Options) { o.Start, o.Follow, o.Replay = StartJobs, true, 1 }, "G")
	shows(b, "8 Jobs", "three-causes/three-causes ───")
	b.news(s, func(opened *snapshot.Snapshot) { opened.Focus.Preview = false })
	shows(b, "Jobs › three-causes/three-causes", "1 Overview")
	b.send(snapshotMsg{snap: s})
	shows(b, "8 Jobs", "three-causes/three-causes ───")
}

// Requirements: DEM-06
func TestCoachGoesWithTheFirstKey(t *testing.T) {
	coached := func(o *Options) { o.Start, o.Coach = StartJobs, "enter: the map" }
	b := open(t, previewed(t, "three-causes"), size{80, 24}, coached)
	shows(b, "▌ enter: the map")
	checkFrame(t, b, size{80, 24})
	b.send(tickMsg(b.now))
	shows(b, "▌ enter: the map")
	b.press("x")
	hides(b, "▌ enter: the map")
	hides(open(t, previewed(t, "three-causes"), size{60, 15}, coached), "▌ enter: the map")
}

// The cursor is on the Job that Options select, wherever it is in the order, until the user moves the cursor.
// Requirements: DEM-06
func TestSelectedJobIsUnderTheCursor(t *testing.T) {
	b := open(t, jobsSnapshot(someJobs()...), size{80, 24}, func(o *Options) {
		o.Select = types.NamespacedName{Namespace: "ml", Name: "validate"}
	})
	b.View()
	assert.Equal(t, b.chosen(), "validate", "the cursor is on")
	b.press("g")
	if !b.isOnTop() {
		t.Errorf("g goes to %s", b.chosen())
	}
}
