package eventwriter

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"math"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/controller/cluster"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/kube"
)

// outgoing is one event to be written to the API server.
type outgoing struct {
	name                  string
	about                 corev1.ObjectReference
	kind, reason, message string
	annotations           map[string]string
	count                 int
	first, last           metav1.Time
	// stored is the existing event of that name, as far as it is known; nil if none is known.
	stored *storedEvent
	// unsure is the count in a write that may or may not have been stored; 0 if there is no such write.
	unsure int32
}

// storedEvent holds the fields of an existing event that a write needs.
type storedEvent struct {
	name, version, message string
	annotations            map[string]string
	count                  int32
	first, last            metav1.Time
}

func newOutgoing(l *lane, n note) *outgoing {
	// The API server keeps whole seconds.
	first, last := metav1.NewTime(n.first).Rfc3339Copy(), metav1.NewTime(n.last).Rfc3339Copy()
	e := &outgoing{about: l.about, kind: l.kind, reason: l.reason, message: Truncate(n.message), count: n.count, first: first, last: last}
	if n.record != nil {
		e.annotations = n.record.Annotations()
	}
	same := l.cause
	if same == "" {
		same = n.message
	}
	e.name = eventName(l.about, l.kind, l.reason, same)
	if l.stored != nil && l.stored.name == e.name {
		e.stored = l.stored
	}
	return e
}

// eventName returns the name of an event, which is the same for the same message about the same object.
func eventName(about corev1.ObjectReference, parts ...string) string {
	sum := sha256.Sum256([]byte(string(about.UID) + "\n" + strings.Join(parts, "\n")))
	hash := hex.EncodeToString(sum[:8])
	name := about.Name[:min(len(about.Name), validation.DNS1123SubdomainMaxLength-1-len(hash))]
	return strings.TrimRight(name, "-.") + "." + hash
}

// lapsed handles the deletion of the event by the API server: the next event continues its count.
func (e *outgoing) lapsed() {
	e.count += int(e.stored.count)
	e.first, e.message, e.annotations, e.stored = e.stored.first, e.stored.message, e.stored.annotations, nil
}

// store writes events, with the verbs create and patch only.
type store struct {
	events  kube.CoreV1
	timeout time.Duration
}

// maxEventTries bounds how often one write starts over because the event was created, changed or deleted in between.
const maxEventTries = 5

var errEventChanges = errors.New("the event changed during every try to write it")

// write creates the event, or increases the count of the existing one. It reports whether
// nothing is left to do: an error then means that the event will never be written.
func (s *store) write(ctx context.Context, e *outgoing) (done bool, err error) {
	for range maxEventTries {
		if e.stored == nil {
			err = s.create(ctx, e)
		} else {
			err = s.raise(ctx, e)
		}
		switch {
		case err == nil:
			return true, nil
		case kube.IsNotFound(err) && e.stored != nil:
			e.lapsed()
			err = nil
		case apierrors.IsAlreadyExists(err), apierrors.IsConflict(err):
			if done, err = s.look(ctx, e); done {
				return true, nil
			}
		}
		if err != nil {
			return !cluster.IsTransient(err), err
		}
	}
	return false, errEventChanges
}

func (s *store) create(ctx context.Context, e *outgoing) error {
	ctx, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	count := addCounts(0, e.count)
	stored, err := s.events.Events(e.about.Namespace).Create(ctx, &corev1.Event{
		ObjectMeta:          metav1.ObjectMeta{Name: e.name, Namespace: e.about.Namespace, Annotations: e.annotations},
		InvolvedObject:      e.about,
		Type:                e.kind,
		Reason:              e.reason,
		Message:             e.message,
		Count:               count,
		FirstTimestamp:      e.first,
		LastTimestamp:       e.last,
		Source:              corev1.EventSource{Component: cluster.FieldManager},
		ReportingController: cluster.FieldManager,
	}, metav1.CreateOptions{FieldManager: cluster.FieldManager})
	return e.took(stored, count, err)
}

// raise increases the count of the event, if it has not changed since it was read.
func (s *store) raise(ctx context.Context, e *outgoing) error {
	count := addCounts(e.stored.count, e.count)
	stored, err := s.patch(ctx, e, map[string]any{
		"metadata":      map[string]string{"resourceVersion": e.stored.version},
		"count":         count,
		"lastTimestamp": e.last,
	})
	return e.took(stored, count, err)
}

// look reads the existing event with a patch that changes nothing, so that permission to read events is not needed. It
// reports whether an earlier write without a response stored the event.
func (s *store) look(ctx context.Context, e *outgoing) (done bool, err error) {
	unsure := e.unsure
	stored, err := s.patch(ctx, e, map[string]any{})
	if kube.IsNotFound(err) {
		e.stored = nil
		return false, nil
	}
	if err := e.took(stored, unsure, err); err != nil {
		return false, err
	}
	return unsure != 0 && e.stored.count == unsure && e.stored.last.Equal(&e.last), nil
}

func (s *store) patch(ctx context.Context, e *outgoing, change map[string]any) (*corev1.Event, error) {
	body, err := json.Marshal(change)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	return s.events.Events(e.about.Namespace).Patch(ctx, e.name, types.MergePatchType, body, metav1.PatchOptions{FieldManager: cluster.FieldManager})
}

// took handles the response to a write of a count.
func (e *outgoing) took(stored *corev1.Event, count int32, err error) error {
	switch {
	case err == nil:
		e.unsure = 0
		e.stored = &storedEvent{
			name: e.name, version: stored.ResourceVersion, message: stored.Message, annotations: stored.Annotations, count: stored.Count,
			first: stored.FirstTimestamp, last: stored.LastTimestamp,
		}
	case cluster.IsAmbiguous(err):
		e.unsure = count
	}
	return err
}

// addCounts adds n to a stored count, which another client may have set to any value.
func addCounts(stored int32, n int) int32 {
	return int32(min(int64(max(stored, 0))+int64(n), math.MaxInt32))
}
