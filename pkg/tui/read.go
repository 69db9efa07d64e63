package tui

import (
	"slices"

	tea "charm.land/bubbletea/v2"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/job"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/pods"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/screen"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/widget"
)

// keyFailedLogs and keyYAML open screens about the Job of the screen or under the cursor; keyYAML, about the pod if there is
// one.
var (
	keyFailedLogs = widget.Bind("L", "logs of failed pods", "L")
	keyYAML       = widget.Bind("Y", "YAML", "Y")
)

// podChooser is a screen with a list of pods and a cursor.
type podChooser interface {
	ChosenPod(d *screen.Data) string
}

// readKeys returns which of these keys do something on a screen.
func readKeys(top screen.Screen, d *screen.Data, hasYAML bool) (keys []widget.Binding) {
	if _, ok := targetOf(top, d); !ok {
		return nil
	}
	if _, is := top.(pods.FailedLogs); !is {
		keys = append(keys, keyFailedLogs)
	}
	if _, is := top.(*job.YAML); !is && hasYAML {
		keys = append(keys, keyYAML)
	}
	return keys
}

// read opens the screen of a key.
func (m *Model) read(k tea.KeyPressMsg) tea.Cmd {
	top := m.screens.top()
	t, _ := targetOf(top, &m.data)
	switch {
	case !slices.ContainsFunc(readKeys(top, &m.data, m.o.YAML != nil), func(b widget.Binding) bool { return widget.Matches(k, b) }):
		m.sayUnknown(k)
		return nil
	case widget.Matches(k, keyFailedLogs):
		return m.act(screen.Action{Open: pods.NewFailedLogs(t.job)})
	}
	focus := top.Focus()
	pod := focus.Pod
	if list, is := top.(podChooser); is {
		pod = list.ChosenPod(&m.data)
	}
	return m.act(job.OpenYAML(t.job, pod, focus, m.o.YAML))
}
