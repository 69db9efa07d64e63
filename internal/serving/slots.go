package serving

import "context"

// slots limits the number of reviews in progress, and of those that wait for a slot. Slots are assigned in the order of arrival.
type slots struct{ used, waiting chan struct{} }

func newSlots(used, waiting int) *slots {
	return &slots{make(chan struct{}, used), make(chan struct{}, waiting)}
}

// acquire waits for a slot until ctx ends; the caller must return the slot with release. The error is errBusy.
func (s *slots) acquire(ctx context.Context) error {
	select {
	case s.used <- struct{}{}:
		return nil
	default:
	}
	select {
	case s.waiting <- struct{}{}:
		defer func() { <-s.waiting }()
	default:
		return errBusy
	}
	select {
	case s.used <- struct{}{}:
		return nil
	case <-ctx.Done():
		return errBusy
	}
}

func (s *slots) release() { <-s.used }
