package history

import (
	"fmt"
	"maps"
	"slices"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Log is a Recorder that keeps all versions.
type Log struct {
	mu sync.Mutex
	// versions holds the versions by namespace.
	versions map[string][]Version
	changed  chan struct{}
	broken   error
}

// NewLog returns an empty Log.
func NewLog() *Log {
	return &Log{versions: map[string][]Version{}, changed: make(chan struct{})}
}

// BreakOff records why the log is incomplete.
func (l *Log) BreakOff(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.broken = err
	l.wake()
}

// Record adds a version.
func (l *Log) Record(v Version) {
	l.mu.Lock()
	defer l.mu.Unlock()
	namespace := v.Object().GetNamespace()
	l.versions[namespace] = append(l.versions[namespace], v)
	l.wake()
}

func (l *Log) wake() {
	close(l.changed)
	l.changed = make(chan struct{})
}

// Changes returns a channel that is closed at the next change, and why the log is incomplete.
func (l *Log) Changes() (<-chan struct{}, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.changed, l.broken
}

// Namespaces returns the namespaces with versions.
func (l *Log) Namespaces() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Sorted(maps.Keys(l.versions))
}

// In returns the versions of a namespace in the order in which they were stored.
func (l *Log) In(namespace string) []Version { return Sorted(l.Recorded(namespace)) }

// Forget drops the versions of a namespace.
func (l *Log) Forget(namespace string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.versions, namespace)
}

// Has reports whether the log has a stored object in this version, or its deletion.
func (l *Log) Has(stored metav1.Object) bool { return l.At(stored) >= 0 }

// At returns the position of a stored version, or of the deletion of its object, among the recorded versions, or -1.
func (l *Log) At(stored metav1.Object) int {
	return slices.IndexFunc(l.Recorded(stored.GetNamespace()), func(v Version) bool {
		return v.Object().GetUID() == stored.GetUID() && (v.Gone || v.Object().GetResourceVersion() == stored.GetResourceVersion())
	})
}

// Recorded returns the versions of a namespace in the order in which they arrived.
func (l *Log) Recorded(namespace string) []Version {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clip(l.versions[namespace])
}

// Present returns the newest versions of the existing objects of a namespace.
func (l *Log) Present(namespace string) map[types.UID]Version {
	newest := map[types.UID]Version{}
	for _, v := range l.In(namespace) {
		newest[v.Object().GetUID()] = v
	}
	maps.DeleteFunc(newest, func(_ types.UID, v Version) bool { return v.Gone })
	return newest
}

// Missing compares the log with the stored objects of a namespace ("" for all), and returns those that differ.
func (l *Log) Missing(stored []metav1.Object) (names []string) {
	shown := map[types.UID]Version{}
	for _, ns := range l.Namespaces() {
		maps.Copy(shown, l.Present(ns))
	}
	for _, o := range stored {
		if v, known := shown[o.GetUID()]; !known || v.Object().GetResourceVersion() != o.GetResourceVersion() {
			names = append(names, o.GetNamespace()+"/"+o.GetName())
		}
		delete(shown, o.GetUID())
	}
	for _, v := range shown {
		names = append(names, fmt.Sprintf("the end of %s/%s", v.Object().GetNamespace(), v.Object().GetName()))
	}
	return names
}
