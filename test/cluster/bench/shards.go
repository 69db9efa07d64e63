//go:build unix

package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

const (
	shardNamespaces = 60
	shardReplicas   = 3
	shardCount      = 6
	// shardSettle is longer than the two minutes after which Go forces a garbage collection in an idle process.
	shardSettle = 150 * time.Second
	shardPoll   = 2 * time.Second
)

// sharded is the resident memory of our idle controller, in bytes.
type sharded struct {
	Pods int `json:"pods"`
	// Empty is the memory without Jobs, Single the memory of one process with all Jobs.
	Empty    int64     `json:"emptyBytes"`
	Single   int64     `json:"singleBytes"`
	Replicas []replica `json:"replicas"`
}

// replica is one of several replicas that share the namespaces.
type replica struct {
	Shards int   `json:"shards"`
	Pods   int   `json:"pods"`
	Bytes  int64 `json:"residentBytes"`

	process *child
	metrics string
}

// shards compares a process that has all Jobs with replicas that share them. The API server filters by shard. After an
// error, it returns the previous measurements.
func (b *bench) shards(ctx context.Context) (*sharded, error) {
	s := &sharded{Pods: b.shardPods / shardNamespaces * shardNamespaces}
	var err error
	if s.Empty, err = b.restarted(ctx, 0, shardSettle); err != nil {
		return s, err
	}
	progress("Shards: %d pods in %d namespaces", s.Pods, shardNamespaces)
	if err := b.runInNamespaces(ctx, b.shardPods/shardNamespaces); err != nil {
		return s, err
	}
	if s.Single, err = b.restarted(ctx, shardNamespaces, shardSettle); err != nil {
		return s, err
	}
	s.Replicas, err = b.replicas(ctx, s.Pods)
	return s, err
}

// replicas starts several replicas that share the namespaces, waits until they hold this many pods in total, and returns
// their figures; at the end, a single controller runs again.
func (b *bench) replicas(ctx context.Context, pods int) (list []replica, err error) {
	if err := b.launched.controller.stop(); err != nil {
		return nil, err
	}
	progress("Shards: %d replicas", shardReplicas)
	defer func() {
		for _, r := range list {
			err = errors.Join(err, r.process.stop())
		}
		err = errors.Join(err, b.restart(unlimited))
	}()
	for range shardReplicas {
		var r replica
		if r.process, r.metrics, err = b.launched.startReplica("--kube-api-qps=-1", "--leader-elect", "--leader-elect-resource-namespace="+namespace, fmt.Sprintf("--shards=%d", shardCount)); err != nil {
			return list, err
		}
		list = append(list, r)
	}
	return list, settle(ctx, b.timeout, list, pods)
}

// restarted restarts our controller and returns its memory, a settle time after it has completed this many syncs.
func (b *bench) restarted(ctx context.Context, syncs int, settle time.Duration) (int64, error) {
	if err := b.restart(unlimited); err != nil {
		return 0, err
	}
	err := until(ctx, b.timeout, func() (bool, error) {
		all, err := readSyncs(ctx, b.launched.metrics[ours])
		return err == nil && int(all[""].ok) >= syncs, nil // It may not listen yet.
	})
	if err != nil {
		return 0, fmt.Errorf("waiting for our controller: %w", err)
	}
	if err := sleep(ctx, settle); err != nil {
		return 0, err
	}
	return residentBytes(b.processes[procOurs])
}

// runInNamespaces runs a Job in each namespace, whose pods keep running. The names differ at the beginning, since the
// last characters hardly influence the shard.
func (b *bench) runInNamespaces(ctx context.Context, pods int) error {
	for i := range shardNamespaces {
		name := fmt.Sprintf("%02d-bench", i)
		if _, err := b.api.CoreV1().Namespaces().Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{}); err != nil {
			return err
		}
		job := b.jobs.job(ours, shape{pods, true}, running(forever), func(job *batchv1.Job) { job.Namespace = name })
		if _, err := b.api.BatchV1().Jobs(name).Create(ctx, job, metav1.CreateOptions{}); err != nil {
			return err
		}
	}
	return until(ctx, b.timeout, func() (bool, error) {
		jobs, err := b.api.BatchV1().Jobs(metav1.NamespaceAll).List(ctx, metav1.ListOptions{})
		if err != nil {
			return false, err
		}
		return !slices.ContainsFunc(jobs.Items, func(job batchv1.Job) bool { return int(ptr.Deref(job.Status.Ready, 0)) < pods }), nil
	})
}

// settle waits until the replicas hold all pods in fair shares, then sets each replica's memory.
func settle(ctx context.Context, timeout time.Duration, list []replica, pods int) error {
	err := until(ctx, timeout, func() (bool, error) {
		held, fair := 0, true
		for i := range list {
			list[i].look(ctx)
			held += list[i].Pods
			fair = fair && list[i].Shards == shardCount/shardReplicas
		}
		return fair && held == pods, nil
	})
	if err != nil {
		return fmt.Errorf("waiting for the replicas %+v: %w", list, err)
	}
	if err := sleep(ctx, shardSettle); err != nil {
		return err
	}
	for i := range list {
		r := &list[i]
		if r.Bytes, err = residentBytes(r.process.pid()); err != nil {
			return err
		}
	}
	return nil
}

// look reads the replica's shards and pods from its metrics: 0 if it does not listen yet.
func (r *replica) look(ctx context.Context) {
	r.Shards, r.Pods = 0, 0
	families, _ := readMetrics(ctx, r.metrics)
	for _, m := range families["job_controller_shard_pods"].GetMetric() {
		r.Shards++
		r.Pods += int(m.GetGauge().GetValue())
	}
}

// until polls until is returns true or an error, or the timeout expires.
func until(ctx context.Context, timeout time.Duration, is func() (bool, error)) error {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	for {
		if done, err := is(); done || err != nil {
			return err
		}
		if err := sleep(ctx, shardPoll); err != nil {
			return err
		}
	}
}

// addShards adds the measured memory, and the largest replica's share of the pods' memory.
func (r *report) addShards(s sharded) {
	where := fmt.Sprintf("%d pods in %d namespaces: ", s.Pods, shardNamespaces)
	least := min(s.Empty, s.Single)
	add := func(what string, bytes int64) {
		if bytes == 0 {
			return // An error came first.
		}
		v := mega(bytes)
		r.add("", where+what, 0, &v, nil, nil)
	}
	add("RSS of one process, MB", s.Single)
	add("RSS without Jobs, MB", s.Empty)
	var largest int64
	for i, replica := range s.Replicas {
		add(fmt.Sprintf("RSS of replica %d with %d of %d shards and %d pods, MB", i+1, replica.Shards, shardCount, replica.Pods), replica.Bytes)
		largest, least = max(largest, replica.Bytes), min(least, replica.Bytes)
	}
	if least == 0 || len(s.Replicas) < shardReplicas {
		return
	}
	share := float64(largest-s.Empty) / float64(s.Single-s.Empty)
	r.add("", where+"memory for pods, largest replica / one process", 2, &share, nil, nil)
}
