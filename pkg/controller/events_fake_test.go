package controller

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// heard is a recorder that keeps events as "kind reason: message".
type heard struct {
	mu    sync.Mutex
	texts []string
}

func (h *heard) Event(_ runtime.Object, kind, reason, message string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.texts = append(h.texts, fmt.Sprintf("%s %s: %s", kind, reason, message))
}

func (h *heard) Eventf(about runtime.Object, kind, reason, format string, args ...any) {
	h.Event(about, kind, reason, fmt.Sprintf(format, args...))
}

func (h *heard) AnnotatedEventf(about runtime.Object, _ map[string]string, kind, reason, format string, args ...any) {
	h.Eventf(about, kind, reason, format, args...)
}

func (h *heard) heard(reason string) bool {
	return slices.ContainsFunc(h.texts, func(text string) bool { return strings.Contains(text, " "+reason+": ") })
}

// want checks the events since the last call.
func (h *heard) want(t *testing.T, what string, texts ...string) {
	t.Helper()
	assert.SlicesEqual(t, h.texts, texts, what, strings.Join(h.texts, "\n"), strings.Join(texts, "\n"))
	h.texts = nil
}

// newTalkingCluster returns a fake cluster with a recorder.
func newTalkingCluster(t *testing.T) (*fakeCluster, *heard) {
	f, events := newFakeCluster(t, nil), &heard{}
	f.engine.config.Recorder = events
	return f, events
}
