package live

import (
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/internal/feed"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/kube/apicall"
)

// Issue 6: the gap about dropped events stays if watching events is forbidden.
func TestForbiddenWatchDoesNotHideForgottenEvents(t *testing.T) {
	f := newRelated()
	f.job = newStorm(0).watch.set.Job
	s := NewSource(testConfig())
	w := newEventWatch(s, f, f.job, true)
	w.events.read, w.events.incomplete = true, ptr.To(droppedEvents())
	w.onRefusal(&feed.Refusal{
		Call: apicall.Call{Verb: "watch", Resource: "events"}, Err: apierrors.NewForbidden(schema.GroupResource{Resource: "events"}, "", nil),
	})
	if gaps := f.gaps(); w.events.isComplete() || len(gaps) != 2 || !strings.Contains(gaps[1].Text, "no permission to watch") {
		t.Errorf("whole %v, gaps %v", w.events.isComplete(), gaps)
	}
	w.onRefusal(nil)
	if gaps := f.gaps(); len(gaps) != 1 || gaps[0] != droppedEvents() {
		t.Errorf("gaps %v", gaps)
	}
}
