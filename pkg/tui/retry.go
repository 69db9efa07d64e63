package tui

import (
	"context"

	tea "charm.land/bubbletea/v2"
	"k8s.io/apimachinery/pkg/types"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/cronjob"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/job"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/screen"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/widget"
)

// keyRetry opens the form that creates retries, and keyRun the form that runs a CronJob. The other keys that lead to a write
// are keyHold and keyDelete.
var (
	keyRetry = widget.Bind("R", "retry", "R")
	keyRun   = widget.Bind("R", "run now", "R")
)

// keyOwner opens the CronJob of the Job of the screen or under the cursor.
var keyOwner = widget.Bind("O", "CronJob of the Job", "O")

// openOwner opens the CronJob.
func (m *Model) openOwner(k tea.KeyPressMsg) tea.Cmd {
	t, ok := targetOf(m.screens.top(), &m.data)
	switch {
	case !ok:
		m.sayUnknown(k)
		return nil
	case !cronjob.IsOwner(t.owner):
		m.say("no CronJob owns this Job")
		return nil
	}
	return m.act(screen.Action{Open: job.NewCronJob(types.NamespacedName{Namespace: t.job.Namespace, Name: t.owner.Name})})
}

// runnable returns the CronJob of the screen, and whether it can be run.
func (m *Model) runnable() (key types.NamespacedName, ok bool) {
	s, is := m.screens.top().(*job.CronJob)
	if !is || m.o.Runner == nil {
		return key, false
	}
	return s.Name(), true
}

// retriable returns the target if it can be retried; allowed reports whether the user is known to have permission.
func (m *Model) retriable() (key types.NamespacedName, ok, allowed bool) {
	if m.o.Retrier == nil {
		return key, false, false
	}
	t, ok := targetOf(m.screens.top(), &m.data)
	ok = ok && t.canBeRetried()
	return t.job, ok, ok && m.mayRetry[t.job.Namespace]
}

// askPermission checks the user's permission once for each namespace with a Job to retry.
func (m *Model) askPermission() tea.Cmd {
	key, ok, _ := m.retriable()
	if _, asked := m.mayRetry[key.Namespace]; asked || !ok {
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

// retry opens the form.
func (m *Model) retry(k tea.KeyPressMsg) tea.Cmd {
	if key, ok := m.runnable(); ok {
		return m.act(job.OpenRun(key, m.o.Runner))
	}
	switch key, ok, allowed := m.retriable(); {
	case allowed:
		return m.act(job.OpenRetry(key, m.o.Retrier))
	case !ok && key.Name != "":
		m.say("only a Job that has failed or is stalled can be retried")
	default:
		m.sayUnknown(k)
	}
	return nil
}

// run starts a Task.
func (m *Model) run(task screen.Task) tea.Cmd {
	return func() tea.Msg { return doneMsg(task(m.o.Context)) }
}
