package soak

import (
	"context"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/batchjob-dev/kubectl-batchjob/test/cluster/etcd"
	"github.com/batchjob-dev/kubectl-batchjob/test/cluster/history"
	"github.com/batchjob-dev/kubectl-batchjob/test/cluster/testcluster"
	"github.com/batchjob-dev/kubectl-batchjob/test/cluster/troubles"
)

// components returns the processes of the cluster in dir.
func components(dir string) (*troubles.Components, error) {
	state := filepath.Join(dir, "kwok", "clusters", "batchjob")
	return troubles.FindComponents(state, filepath.Join(state, "logs"), troubles.Etcd, troubles.APIServer, troubles.ControllerManager, troubles.Nodes)
}

// chronicle is the history of the cluster.
type chronicle struct {
	*history.Log
	// reached is the latest revision that was read.
	reached atomic.Int64
}

// begin begins to record the versions that etcd stores. The API server's watches would miss versions stored shortly before a
// restart.
func begin(ctx context.Context, c *testcluster.Cluster) error {
	cluster, client, past = c, c.Client, &chronicle{Log: c.Past}
	processes, err := components(c.Dir)
	if err != nil {
		return err
	}
	store := etcd.Store{URL: processes.Flag(troubles.APIServer, "etcd-servers")}
	revision, err := store.Revision(ctx)
	if err != nil {
		return err
	}
	go func() {
		// With all keys, reached is the revision of the store when nothing is missing.
		err := store.Follow(ctx, "/registry/", "/registry0", revision, func(c etcd.Change) error {
			defer past.reached.Store(c.Revision)
			if !strings.HasPrefix(c.Key, "/registry/jobs/") && !strings.HasPrefix(c.Key, "/registry/pods/") {
				return nil
			}
			v, err := versionOf(c)
			if err == nil {
				past.Record(v)
			}
			return err
		})
		if err != nil {
			past.BreakOff(err)
		}
	}()
	return nil
}

// versionOf decodes an object stored by the API server.
func versionOf(c etcd.Change) (history.Version, error) {
	object, _, err := scheme.Codecs.UniversalDeserializer().Decode(c.Value, nil, nil)
	if err != nil {
		return history.Version{}, fmt.Errorf("%s: %w", c.Key, err)
	}
	if o, ok := object.(metav1.Object); ok {
		o.SetResourceVersion(strconv.FormatInt(c.Revision, 10))
	}
	event := watch.Event{Type: watch.Modified, Object: object}
	if c.Deleted {
		event.Type = watch.Deleted
	}
	return history.FromEvent(event, time.Now())
}

// untilReached waits until the history has reached a revision.
func (h *chronicle) untilReached(ctx context.Context, revision int64) error {
	return wait.PollUntilContextTimeout(ctx, 20*time.Millisecond, testcluster.Patience, true, func(context.Context) (bool, error) {
		return h.reached.Load() >= revision, nil
	})
}
