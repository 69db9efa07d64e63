package soak

import (
	"context"
	"errors"
	"math/rand/v2"
	"strings"
	"syscall"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/test/cluster/testcluster"
	"github.com/batchjob-dev/kubectl-batchjob/test/cluster/troubles"
)

// prepare sets the flags of the API server and kube-controller-manager for a soak: kwokctl's flags disable priority and
// fairness, connections last forever, a stopping API server waits a minute for watches, and a controller manager that
// lost its Lease in an outage would wait for it.
func (d *disturber) prepare(ctx context.Context, _ time.Duration, _ *rand.Rand) (int, error) {
	err := d.components.Restart(ctx, troubles.APIServer, "--enable-priority-and-fairness=true",
		"--max-requests-inflight=100", "--max-mutating-requests-inflight=50", "--goaway-chance=0.02", "--shutdown-watch-termination-grace-period=1s")
	if err != nil {
		return 0, err
	}
	refused, err := d.untilServing(ctx)
	return refused, errors.Join(err, d.components.Restart(ctx, troubles.ControllerManager, "--leader-elect=false"))
}

// endServer simulates an upgrade: the API server ends properly, and another one starts.
func (d *disturber) endServer(ctx context.Context, _ time.Duration, _ *rand.Rand) (refused int, err error) {
	return d.replaceServer(ctx, syscall.SIGTERM, func() error { return nil })
}

// killServer simulates a crash of the API server, which is gone for a while.
func (d *disturber) killServer(ctx context.Context, lasts time.Duration, _ *rand.Rand) (refused int, err error) {
	return d.replaceServer(ctx, syscall.SIGKILL, func() error {
		pause(ctx, lasts)
		return nil
	})
}

// replaceServer ends the API server, and starts it again once between has returned.
func (d *disturber) replaceServer(ctx context.Context, signal syscall.Signal, between func() error) (refused int, err error) {
	d.tally.answers(d.t) // Its counters restart from 0.
	if err := d.components.Stop(ctx, troubles.APIServer, signal); err != nil {
		return 0, err
	}
	err = between()
	if err := errors.Join(err, d.components.Start(troubles.APIServer)); err != nil {
		return 0, err
	}
	return d.untilServing(ctx)
}

// compact makes etcd drop all replaced versions and shrink its file while the API server is restarted: as its watch
// cache is empty, too, no watch can resume where it ended.
func (d *disturber) compact(ctx context.Context, _ time.Duration, _ *rand.Rand) (expired int, err error) {
	before, err := client.BatchV1().Jobs("").List(ctx, metav1.ListOptions{Limit: 1})
	if err != nil {
		return 0, err
	}
	if err := probe(ctx); err != nil { // This creates a later revision.
		return 0, err
	}
	_, err = d.replaceServer(ctx, syscall.SIGKILL, func() error {
		revision, err := d.store.Revision(ctx)
		if err == nil {
			err = past.untilReached(ctx, revision)
		}
		if err == nil {
			err = d.store.Compact(ctx, revision)
		}
		return err
	})
	if err != nil {
		return 0, err
	}
	return watchesThatExpire(ctx, before.ResourceVersion)
}

// watchesThatExpire returns 1 if a watch cannot start at the resourceVersion, otherwise 0.
func watchesThatExpire(ctx context.Context, resourceVersion string) (int, error) {
	w, err := client.BatchV1().Jobs("").Watch(ctx, metav1.ListOptions{ResourceVersion: resourceVersion, TimeoutSeconds: ptr.To[int64](1)})
	if err == nil {
		defer w.Stop()
		if event := <-w.ResultChan(); event.Type == watch.Error {
			err = apierrors.FromObject(event.Object)
		}
	}
	if apierrors.IsResourceExpired(err) || apierrors.IsGone(err) {
		return 1, nil
	}
	return 0, err
}

// fillDisk makes etcd run out of space: it stores nothing anymore until its quota is raised and the alarm is disarmed.
// For etcd, the disk is full when the file has reached its quota.
func (d *disturber) fillDisk(ctx context.Context, lasts time.Duration, _ *rand.Rand) (refused int, err error) {
	if err := d.restartStore(ctx, "--quota-backend-bytes=1"); err != nil {
		return 0, err
	}
	for end := time.Now().Add(lasts); time.Now().Before(end) && ctx.Err() == nil; pause(ctx, 100*time.Millisecond) {
		if err := probe(ctx); err != nil && strings.Contains(err.Error(), "database space exceeded") {
			refused++
		}
	}
	if err := d.restartStore(ctx); err != nil {
		return refused, err
	}
	alarms, err := d.store.Disarm(ctx)
	if err == nil && alarms == 0 {
		err = errors.New("etcd has raised no alarm")
	}
	_, serving := d.untilServing(ctx)
	return refused, errors.Join(err, serving)
}

// probe makes the API server store an object.
func probe(ctx context.Context) error {
	object := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{GenerateName: "probe-"}}
	_, err := client.CoreV1().ConfigMaps(testcluster.SystemNamespace).Create(ctx, object, metav1.CreateOptions{})
	return err
}

func (d *disturber) restartStore(ctx context.Context, flags ...string) error {
	if err := d.components.Stop(ctx, troubles.Etcd, syscall.SIGKILL); err != nil {
		return err
	}
	if err := d.components.Start(troubles.Etcd, flags...); err != nil {
		return err
	}
	return wait.PollUntilContextTimeout(ctx, 50*time.Millisecond, testcluster.Patience, true, func(ctx context.Context) (bool, error) {
		_, err := d.store.Revision(ctx)
		return err == nil, nil
	})
}

// untilServing waits until the API server is ready, and returns how often it was not. Then it restarts the nodes.
func (d *disturber) untilServing(ctx context.Context) (refused int, err error) {
	err = wait.PollUntilContextTimeout(ctx, 50*time.Millisecond, testcluster.Patience, true, func(ctx context.Context) (bool, error) {
		ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
		defer cancel()
		_, err := client.CoreV1().RESTClient().Get().AbsPath("/readyz").DoRaw(ctx)
		if err != nil {
			refused++
		}
		return err == nil, nil
	})
	return refused, errors.Join(err, d.restartNodes(ctx))
}

// restartNodes restarts kwok, which gives up on a pod after errors that a kubelet would retry. It would wait for minutes
// until the Leases of its nodes, held by its predecessor, expire.
func (d *disturber) restartNodes(ctx context.Context) error {
	if err := d.components.Stop(ctx, troubles.Nodes, syscall.SIGKILL); err != nil {
		return err
	}
	leases := client.CoordinationV1().Leases(corev1.NamespaceNodeLease)
	err := leases.DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{})
	return errors.Join(err, d.components.Start(troubles.Nodes))
}
