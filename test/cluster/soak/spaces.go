package soak

import (
	"context"
	"os"
	"path/filepath"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/batchjob-dev/kubectl-batchjob/test/cluster/history"
	"github.com/batchjob-dev/kubectl-batchjob/test/cluster/testcluster"
)

// space is a namespace that is in use.
type space struct {
	name   string
	opened time.Time
	// closed reports whether no more Jobs are created; the existing ones must end.
	closed bool
}

// chores does regular maintenance of the namespaces.
func (s *soak) chores() {
	var left []*space
	for _, space := range s.spaces {
		space.closed = space.closed || time.Since(space.opened) > namespaceFor
		s.tidy(space)
		now := past.now(space.name)
		s.deleteAgain(now.pods)
		if space.closed && now.empty() && s.isEmpty(space) {
			s.audit(space)
			continue
		}
		left = append(left, space)
	}
	s.spaces = left
}

// deleteAgain completes deletions that an error, such as a full disk, interrupted. A kubelet retries; the simulated
// nodes do not.
func (s *soak) deleteAgain(pods []*corev1.Pod) {
	for _, pod := range pods {
		if pod.DeletionTimestamp == nil || len(pod.Finalizers) > 0 || time.Since(pod.DeletionTimestamp.Time) < time.Minute {
			continue
		}
		s.say("deleting pod %s/%s again", pod.Namespace, pod.Name)
		options := metav1.NewDeleteOptions(0)
		options.Preconditions = metav1.NewUIDPreconditions(string(pod.UID))
		_ = client.CoreV1().Pods(pod.Namespace).Delete(s.t.Context(), pod.Name, *options) // A failure is retried in the next round.
	}
}

// audit checks the history of a namespace, and drops it.
func (s *soak) audit(space *space) {
	versions := past.In(space.name)
	problems := cluster.Audit(space.name, versions)
	s.tally.add(versions)
	if len(problems) > 0 {
		file := s.keep(space)
		for _, p := range problems[:min(len(problems), 20)] {
			s.t.Errorf("%s (%s)", p, file)
		}
	}
	past.Forget(space.name)
}

// keep writes the history of a namespace to a file, and returns its name.
func (s *soak) keep(space *space) string {
	file := filepath.Join(s.traces, space.name)
	if err := os.WriteFile(file, []byte(past.Trace(space.name)), 0o600); err != nil {
		s.t.Error(err)
	}
	return file
}

// current returns the namespace for new Jobs.
func (s *soak) current() *space {
	if n := len(s.spaces); n > 0 && !s.spaces[n-1].closed {
		return s.spaces[n-1]
	}
	space := &space{name: s.namespace(), opened: time.Now()}
	s.spaces = append(s.spaces, space)
	return space
}

// namespace creates a namespace with the account that pods need, as soon as that is possible.
func (s *soak) namespace() (name string) {
	testcluster.Eventually(s.t, "a namespace with its service account", func(ctx context.Context) (bool, error) {
		if name == "" {
			ns, err := client.CoreV1().Namespaces().Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "e2e-"}}, metav1.CreateOptions{})
			if err == nil {
				name = ns.Name
			}
			return false, nil
		}
		_, err := client.CoreV1().ServiceAccounts(name).Get(ctx, "default", metav1.GetOptions{})
		return err == nil, nil
	})
	return name
}

// alive returns the number of unfinished Jobs.
func (s *soak) alive() (n int) {
	for _, space := range s.spaces {
		for _, job := range past.now(space.name).jobs {
			if !history.IsFinished(job) {
				n++
			}
		}
	}
	return n
}
