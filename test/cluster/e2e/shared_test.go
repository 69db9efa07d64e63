package e2e

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// sharedReplicas is the number of controllers that serve the tests with BATCHJOB_E2E_SHARDS.
const sharedReplicas = 3

// shared holds the controllers that serve all tests without a controller of their own: one, or with BATCHJOB_E2E_SHARDS
// three replicas that share the work, one of which is killed and replaced every 10 seconds (SHD-02, SHD-04).
type shared struct {
	args []string
	// replicas holds the running replicas, the oldest first. problems holds errors while killing them.
	replicas []*process
	problems []string
	kills    int

	over    chan struct{}
	ended   sync.Once
	killing sync.WaitGroup
}

func startShared(ctx context.Context) (*shared, error) {
	s := &shared{args: strings.Fields(os.Getenv("BATCHJOB_E2E_FLAGS")), over: make(chan struct{})}
	s.args = append(s.args, "--leader-elect", "--leader-elect-resource-namespace", systemNamespace) // Verbs look for the Lease.
	count := os.Getenv("BATCHJOB_E2E_SHARDS")
	if count == "" {
		return s, s.start(ctx)
	}
	s.args = append(s.args, "--shards", count, "--leader-elect-lease-duration", "3s",
		"--leader-elect-renew-deadline", "2s", "--leader-elect-retry-period", "500ms")
	if err := allowShards(ctx); err != nil {
		return s, err
	}
	for range sharedReplicas {
		if err := s.start(ctx); err != nil {
			return s, err
		}
	}
	s.killing.Go(func() { s.killEvery(ctx, 10*time.Second) })
	return s, nil
}

func (s *shared) start(ctx context.Context) error {
	p, err := launch(ctx, s.args...)
	if err == nil {
		s.replicas = append(s.replicas, p)
	}
	return err
}

// killEvery periodically kills the oldest replica and starts another one, until the tests are over.
func (s *shared) killEvery(ctx context.Context, period time.Duration) {
	ticker := time.NewTicker(period)
	defer ticker.Stop()
	for {
		select {
		case <-s.over:
			return
		case <-ticker.C:
		}
		s.replicas[0].Kill()
		s.replicas = s.replicas[1:]
		s.kills++
		if err := s.start(ctx); err != nil {
			s.problems = append(s.problems, err.Error())
			return
		}
	}
}

// rest stops the killing.
func (s *shared) rest() {
	s.ended.Do(func() { close(s.over) })
	s.killing.Wait()
}

// end ends all replicas with SIGTERM, and returns the problems since their start.
func (s *shared) end() []string {
	s.rest()
	for _, p := range s.replicas {
		if code, err := p.End(); err != nil || code != 0 {
			s.problems = append(s.problems, fmt.Sprintf("a shared controller ended with %d, %v:\n%s", code, err, p.Stderr.String()))
		}
	}
	return s.problems
}

// kill kills all replicas.
func (s *shared) kill() {
	s.rest()
	for _, p := range s.replicas {
		p.Kill()
	}
}

// allowShards lets the account write the Leases of shards, for which config/default has no permission.
func allowShards(ctx context.Context) error {
	meta := metav1.ObjectMeta{Name: "shards", Namespace: systemNamespace}
	verbs := []string{"get", "list", "create", "update", "delete"}
	role := &rbacv1.Role{ObjectMeta: meta, Rules: []rbacv1.PolicyRule{{APIGroups: []string{"coordination.k8s.io"}, Resources: []string{"leases"}, Verbs: verbs}}}
	binding := &rbacv1.RoleBinding{
		ObjectMeta: meta, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: meta.Name},
		Subjects: []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Name: systemAccount, Namespace: systemNamespace}},
	}
	_, err := client.RbacV1().Roles(systemNamespace).Create(ctx, role, metav1.CreateOptions{})
	_, bindErr := client.RbacV1().RoleBindings(systemNamespace).Create(ctx, binding, metav1.CreateOptions{})
	return errors.Join(err, bindErr)
}
