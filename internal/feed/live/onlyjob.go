package live

import (
	"github.com/batchjob-dev/kubectl-batchjob/internal/feed"
	"k8s.io/apimachinery/pkg/types"
)

// onlyJob is the Job of a list that was requested by one name. The openJob reads it here, because a watch of its own would
// bring the same updates.
type onlyJob struct {
	news chan struct{} // notifies the openJob

	// guarded by source.mu
	latest  feed.Update   // with the last state seen, even if the Job was deleted since; zero for none
	refusal *feed.Refusal // nil if the list is watched
}

// listsOnly reports whether the list contains only this Job.
func (s *Source) listsOnly(key types.NamespacedName) bool {
	return len(s.Set.Names) == 1 && s.Set.Names[0] == key.Name && s.Set.Namespace == key.Namespace
}

// put applies updates of the list. The caller holds source.mu.
func (o *onlyJob) put(updates []feed.Update) {
	for _, update := range updates {
		if update.Job == nil {
			update.Job = o.latest.Job
		}
		o.latest = update
	}
	notify(o.news)
}

// refused records that watching the list is forbidden, or with nil that it is watched.
func (l *jobList) refused(r *feed.Refusal) {
	if l.source.Refused != nil {
		l.source.Refused(r)
	}
	l.source.mu.Lock()
	defer l.source.mu.Unlock()
	l.only.refusal = r
	notify(l.only.news)
}

// onlyJobNow returns the latest update of the list's only Job, and the refusal, if any.
func (s *Source) onlyJobNow() (feed.Update, *feed.Refusal) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.list.only.latest, s.list.only.refusal
}
