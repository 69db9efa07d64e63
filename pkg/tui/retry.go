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

// openOwner returns the Action of keyOwner, or false if there is no Job.
func openOwner(top screen.Screen, d *screen.Data) (screen.Action, bool) {
	t, ok := targetOf(top, d)
	switch {
	case !ok:
		return screen.Action{}, false
	case !cronjob.IsOwner(t.owner):
		return screen.Action{Notice: "no CronJob owns this Job"}, true
	}
	return screen.Action{Open: job.NewCronJob(types.NamespacedName{Namespace: t.job.Namespace, Name: t.owner.Name})}, true
}

// runnable returns the CronJob of the screen, and whether it can be run.
func runnable(top screen.Screen, runner screen.Finder) (key types.NamespacedName, ok bool) {
	s, is := top.(*job.CronJob)
	if !is || runner == nil {
		return key, false
	}
	return s.Name(), true
}

// againKeys returns the key that runs the Job or the CronJob of the screen again, none if there is none now.
func againKeys(top screen.Screen, runner screen.Finder, retries bool) []widget.Binding {
	if _, ok := runnable(top, runner); ok {
		return []widget.Binding{keyRun}
	}
	if retries {
		return []widget.Binding{keyRetry}
	}
	return nil
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
	if key, ok := runnable(m.screens.top(), m.o.Runner); ok {
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
