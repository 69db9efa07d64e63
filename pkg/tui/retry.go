package tui

import (
	"context"

	tea "charm.land/bubbletea/v2"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/job"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/screen"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/snapshot"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/widget"
)

// keyRetry opens the form that creates retries. Other keys that lead to a write are keyHold and keyDelete.
//
//nolint:gochecknoglobals // a constant, as those of the key map
var keyRetry = widget.Bind("R", "retry", "R")

// failedJob is the Job that the screen is about or that is under the cursor, if it has failed and could be retried.
func (m *Model) failedJob() (key snapshot.JobKey, failed bool) {
	if m.isForm() || m.o.Retrier == nil {
		return key, false
	}
	if list, ok := m.top().(chooser); ok {
		if chosen := list.Chosen(&m.data); chosen != nil {
			return snapshot.JobKey{Namespace: chosen.Namespace, Name: chosen.Name}, chosen.Fate == explain.FateFailed
		}
	}
	key = m.top().Focus().Job
	j := m.data.Open(key)
	return key, j != nil && !j.Gone && j.Verdict.Fate == explain.FateFailed
}

// askPermission asks once in each namespace with a failed Job whether the user may retry it.
func (m *Model) askPermission() tea.Cmd {
	key, failed := m.failedJob()
	if _, asked := m.mayRetry[key.Namespace]; asked || !failed {
		return nil
	}
	m.mayRetry[key.Namespace] = false
	return m.run(func(ctx context.Context) func() screen.Action {
		allowed := m.o.Retrier.IsAllowed(ctx, key.Namespace)
		return func() screen.Action {
			m.mayRetry[key.Namespace] = allowed
			return screen.Action{}
		}
	})
}

// retryKeys are the key that opens the form, if there is a Job to retry.
func (m *Model) retryKeys() []widget.Binding {
	if key, failed := m.failedJob(); failed && m.mayRetry[key.Namespace] {
		return []widget.Binding{keyRetry}
	}
	return nil
}

// retry opens the form.
func (m *Model) retry(k tea.KeyPressMsg) tea.Cmd {
	switch key, failed := m.failedJob(); {
	case failed && m.mayRetry[key.Namespace]:
		return m.act(job.OpenRetry(key, m.o.Retrier))
	case !failed && !key.IsZero():
		m.say("only a Job that has failed can be retried")
	default:
		m.sayUnknown(k)
	}
	return nil
}

// run starts a Task.
func (m *Model) run(task screen.Task) tea.Cmd {
	return func() tea.Msg { return doneMsg(task(m.o.Context)) }
}
