package live

import (
	"github.com/batchjob-dev/kubectl-batchjob/internal/feed"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/snapshot"
)

// onlyJob is the Job of a list that was asked for by one name. The openJob follows it here: a watch of its own would bring
// the same.
type onlyJob struct {
	news chan struct{} // for the openJob

	// under source.mu
	latest  feed.Update   // with the last state that was seen, even if the Job is gone since; zero for none
	refusal *feed.Refusal // nil if the list is watched
}

// listsOnly reports that the list is of this Job alone.
func (s *Source) listsOnly(key snapshot.JobKey) bool {
	return len(s.Set.Names) == 1 && s.Set.Names[0] == key.Name && s.Set.Namespace == key.Namespace
}

// put notes changes of the list. source.mu is held.
func (o *onlyJob) put(updates []feed.Update) {
	for _, update := range updates {
		if update.Job == nil {
			update.Job = o.latest.Job
		}
		o.latest = update
	}
	notify(o.news)
}

// refused notes that the list may not be watched; nil that it is.
func (l *jobList) refused(r *feed.Refusal) {
	if l.source.Refused != nil {
		l.source.Refused(r)
	}
	l.source.mu.Lock()
	defer l.source.mu.Unlock()
	l.only.refusal = r
	notify(l.only.news)
}

// onlyJobNow returns the Job of the list as it is now.
func (s *Source) onlyJobNow() (feed.Update, *feed.Refusal) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.list.only.latest, s.list.only.refusal
}
