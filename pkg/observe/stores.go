package observe

import (
	"fmt"
	"slices"
	"sync"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// JobStore returns the store for the Job watch of a namespace ("" for all namespaces).
func (c *Cache) JobStore(namespace string) Store {
	return &jobStore{c, namespace, newSynced()}
}

// PodStore returns the store for the pod watch of a namespace ("" for all namespaces). Pods controlled by anything
// other than a Job are dropped.
func (c *Cache) PodStore(namespace string) Store {
	return &podStore{c, namespace, newSynced()}
}

// Store stores the objects that one watch delivers. It is a client-go ReflectorStore and ReflectorBookmarkStore, without the
// packages of a client, which the explanations of this package's objects do not need.
type Store interface {
	Add(object any) error
	Update(object any) error
	Delete(object any) error
	Replace(objects []any, version string) error
	Resync() error
	Bookmark(version string) error
	// Slim returns what the store keeps of an object of the initial list.
	Slim(object any) (any, error)
	// Synced is closed once the store has a first complete list.
	Synced() <-chan struct{}
}

type synced struct {
	once *sync.Once
	done chan struct{}
}

func newSynced() synced                  { return synced{&sync.Once{}, make(chan struct{})} }
func (s synced) Synced() <-chan struct{} { return s.done }
func (s synced) reached()                { s.once.Do(func() { close(s.done) }) }

type jobStore struct {
	cache  *Cache
	stream string
	synced
}

func (s *jobStore) Add(object any) error         { return s.Update(object) }
func (s *jobStore) Resync() error                { return nil }
func (s *jobStore) Slim(object any) (any, error) { return object, nil }
func (s *jobStore) Bookmark(v string) error {
	s.cache.mu.Lock()
	defer s.cache.mu.Unlock()
	s.cache.jobs.stream(s.stream).bookmark(v)
	return nil
}

// asJob converts an object from a watch, with or without extra fields.
func asJob(object any) (*batchv1.Job, extraFields, error) {
	switch o := object.(type) {
	case *NamedJob:
		return &o.Job, o.beyond(), nil
	case *batchv1.Job:
		return o, extraFields{generation: o.Generation}, nil
	}
	return nil, extraFields{}, fmt.Errorf("job store: unexpected %T", object)
}

func (s *jobStore) Update(object any) error {
	job, beyond, err := asJob(object)
	if err != nil {
		return err
	}
	c := s.cache
	c.mu.Lock()
	old := c.job(job.UID)
	news := c.jobs.delivered(c.jobs.stream(s.stream), job.UID, job.ResourceVersion, job)
	c.manual.note(job)
	c.storeExtra(job, beyond)
	c.dropForeign(job)
	c.mu.Unlock()
	if news {
		c.listener.JobChanged(JobChange{Old: old, New: job})
	}
	return nil
}

// dropForeign removes the pods of a Job that is not the caller's, which the cache kept while the Job was unknown. The
// caller holds the lock.
func (c *Cache) dropForeign(job *batchv1.Job) {
	of := c.byJob[job.UID]
	if of == nil || c.owns(job) {
		return
	}
	for _, entry := range slices.Clone(of.rows) {
		if uid := entry.value.pod.UID; !entry.value.isStray() {
			c.remove(uid, func() { delete(c.pods.rows, uid) })
		}
	}
}

func (s *jobStore) Delete(object any) error {
	job, _, err := asJob(object)
	if err != nil {
		return err
	}
	s.drop(job.UID, job.ResourceVersion)
	return nil
}

func (s *jobStore) drop(uid types.UID, version string) {
	c := s.cache
	c.mu.Lock()
	old := c.job(uid)
	c.jobs.deleted(c.jobs.stream(s.stream), uid, version)
	delete(c.extra, uid)
	if old != nil {
		c.manual.forget(old)
	}
	if of := c.byJob[uid]; of != nil {
		of.listed = ""
		c.dropEmpty(uid, of)
	}
	c.mu.Unlock()
	if old != nil {
		c.listener.JobChanged(JobChange{Old: old})
	}
}

func (s *jobStore) Replace(objects []any, version string) error {
	s.cache.mu.Lock()
	s.cache.jobs.list(s.cache.jobs.stream(s.stream), version)
	s.cache.mu.Unlock()
	listed := make(map[types.UID]bool, len(objects))
	for _, object := range objects {
		if err := s.Update(object); err != nil {
			return err
		}
		if job, _, err := asJob(object); err == nil {
			listed[job.UID] = true
		}
	}
	s.cache.mu.Lock()
	from := s.cache.jobs.stream(s.stream)
	stale := s.cache.jobs.stale(from, version, listed)
	s.cache.jobs.listed(from, version, listed)
	s.cache.mu.Unlock()
	for _, uid := range stale {
		s.drop(uid, version)
	}
	s.reached()
	return nil
}

type podStore struct {
	cache  *Cache
	stream string
	synced
}

func (s *podStore) slimmed(object any) (*slimPod, error) {
	switch o := object.(type) {
	case *slimPod:
		return o, nil
	case *corev1.Pod:
		return slim(o, s.cache.orphansOfAll), nil
	}
	return nil, fmt.Errorf("pod store: unexpected %T", object)
}

func (s *podStore) Slim(object any) (any, error) { return s.slimmed(object) }
func (s *podStore) Add(object any) error         { return s.Update(object) }
func (s *podStore) Resync() error                { return nil }
func (s *podStore) Bookmark(v string) error {
	s.cache.mu.Lock()
	defer s.cache.mu.Unlock()
	s.cache.pods.stream(s.stream).bookmark(v)
	return nil
}

// passes reports whether an event about a pod is ignored, and if so, records that the watch has delivered it.
func (s *podStore) passes(object any) bool {
	pod, is := object.(*corev1.Pod)
	if !is || !s.cache.Ignores(pod.UID, metav1.GetControllerOfNoCopy(pod)) {
		return false
	}
	s.cache.mu.Lock()
	defer s.cache.mu.Unlock()
	s.cache.pods.stream(s.stream).advance(pod.ResourceVersion)
	return true
}

func (s *podStore) Update(object any) error {
	if s.passes(object) {
		return nil
	}
	pod, err := s.slimmed(object)
	if err != nil {
		return err
	}
	changes, affected := s.take(pod)
	s.report(changes)
	if len(affected) > 0 {
		s.cache.listener.StrayChanged(affected)
	}
	return nil
}

// take stores a pod, and returns the changes and the affected Jobs to report.
func (s *podStore) take(pod *slimPod) ([]PodChange, []*batchv1.Job) {
	c, uid := s.cache, pod.row.pod.UID
	c.mu.Lock()
	defer c.mu.Unlock()
	from, old := c.pods.stream(s.stream), c.pods.value(uid)
	row := c.newRow(old, pod)
	switch {
	case c.pods.isOutdated(uid, pod.version):
		from.advance(pod.version)
		return nil, nil
	case !c.keeps(row):
		from.advance(pod.version)
		c.remove(uid, func() { c.pods.leaves(from, uid, pod.version) })
		return c.changes(old, podRow{}), nil
	case (old.pod == nil || old.job == row.job) && c.outdated(row, pod.version):
		from.advance(pod.version)
		return nil, nil
	case !c.put(uid, row, func() bool { return c.pods.delivered(from, uid, pod.version, row) }):
		return nil, nil
	}
	return c.changes(old, row), c.affected(old, row)
}

// outdated reports whether a complete list of the Job's pods is newer than this event and does not contain the pod,
// although its labels match.
func (c *Cache) outdated(r podRow, version string) bool {
	of := c.byJob[r.job]
	if r.isStray() || of == nil || of.listed == "" || newer(version, of.listed) {
		return false
	}
	return r.more == nil || r.more.labels == nil || !selectorOf(c.job(r.job)).rejects(r.more.labels)
}

func (s *podStore) Delete(object any) error {
	if s.passes(object) {
		return nil
	}
	pod, err := s.slimmed(object)
	if err != nil {
		return err
	}
	s.drop(pod.row.pod.UID, pod.version)
	return nil
}

func (s *podStore) drop(uid types.UID, version string) {
	c := s.cache
	c.mu.Lock()
	old := c.pods.value(uid)
	c.remove(uid, func() { c.pods.deleted(c.pods.stream(s.stream), uid, version) })
	changes := c.changes(old, podRow{})
	c.mu.Unlock()
	s.report(changes)
}

func (s *podStore) report(changes []PodChange) {
	for _, change := range changes {
		s.cache.listener.PodChanged(change)
	}
}

func (s *podStore) Replace(objects []any, version string) error {
	s.cache.mu.Lock()
	s.cache.pods.list(s.cache.pods.stream(s.stream), version)
	s.cache.mu.Unlock()
	listed := make(map[types.UID]bool, len(objects))
	for _, object := range objects {
		pod, err := s.slimmed(object)
		if err != nil {
			return err
		}
		listed[pod.row.pod.UID] = true
		if err := s.Update(pod); err != nil {
			return err
		}
	}
	s.cache.mu.Lock()
	from := s.cache.pods.stream(s.stream)
	stale := s.cache.pods.stale(from, version, listed)
	s.cache.pods.listed(from, version, listed)
	s.cache.mu.Unlock()
	for _, uid := range stale {
		s.drop(uid, version)
	}
	s.reached()
	return nil
}
