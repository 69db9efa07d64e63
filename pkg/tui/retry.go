package tui

import (
	tea "charm.land/bubbletea/v2"

	"context"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/job"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/screen"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/snapshot"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/widget"
)

// keyRetry is the only key that writes to the cluster: it opens the form that does so after a confirmation.
//
//nolint:gochecknoglobals // a constant, as those of the key map
var keyRetry = widget.Bind("R", "retry", "R")

// failedJob is the Job that a retry would be of, if it has failed.
func (m *Model) failedJob() (key snapshot.JobKey, failed bool) {
	s, ok := m.top().(screen.JobChooser)
	if !ok || m.o.Retrier == nil {
		return snapshot.JobKey{}, false
	}
	key, fate := s.ChosenJob(&m.data)
	return key, fate == explain.FateFailed
}

// askPermission asks once in each namespace with a failed Job whether the user may retry it.
func (m *Model) askPermission() tea.Cmd {
	key, failed := m.failedJob()
	if _, asked := m.mayRetry[key.Namespace]; asked || !failed {
		return nil
	}
	m.mayRetry[key.Namespace] = false
	retrier := m.o.Retrier
	return m.run(func(ctx context.Context) func() screen.Action {
		allowed := retrier.IsAllowed(ctx, key.Namespace)
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
func (m *Model) retry() tea.Cmd {
	switch key, failed := m.failedJob(); {
	case failed && m.mayRetry[key.Namespace]:
		return m.act(job.OpenRetry(key, m.o.Retrier))
	case !failed && !key.IsZero():
		m.say("only a Job that has failed can be retried")
	}
	return nil
}

// run starts a Task.
func (m *Model) run(task screen.Task) tea.Cmd {
	ctx := m.o.Context
	return func() tea.Msg { return doneMsg(task(ctx)) }
}
