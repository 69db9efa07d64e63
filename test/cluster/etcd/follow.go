package etcd

import (
	"context"
	"encoding/json"
	"errors"
	"time"
)

// again is the delay before Follow reconnects.
const again = 100 * time.Millisecond

// Follow reports all changes of the keys in [from, to) after a revision, in order and once each, until ctx ends. It
// survives restarts of etcd. It returns ErrCompacted if it cannot continue, and any error of report.
func (s Store) Follow(ctx context.Context, from, to string, revision int64, report func(Change) error) error {
	var failed error
	for ctx.Err() == nil {
		err := s.watch(ctx, from, to, revision+1, func(c Change) error {
			failed = report(c)
			revision = c.Revision
			return failed
		})
		if failed != nil || errors.Is(err, ErrCompacted) {
			return err
		}
		select {
		case <-ctx.Done():
		case <-time.After(again):
		}
	}
	return nil
}

// watchAnswer is one message of a watch response.
type watchAnswer struct {
	Result struct {
		Events []struct {
			Type     string
			KV       keyValue `json:"kv"`
			Previous keyValue `json:"prev_kv"`
		}
		Canceled  bool
		Compacted int64 `json:"compact_revision,string"`
	}
}

type keyValue struct {
	Key, Value []byte
	Revision   int64 `json:"mod_revision,string"`
}

// watch reports the changes from a revision on until the connection ends.
func (s Store) watch(ctx context.Context, from, to string, revision int64, report func(Change) error) error {
	body, err := s.post(ctx, "/v3/watch", map[string]any{"create_request": map[string]any{
		"key": []byte(from), "range_end": []byte(to), "start_revision": revision, "prev_kv": true,
	}})
	if err != nil {
		return err
	}
	defer func() { _ = body.Close() }()
	for answers := json.NewDecoder(body); ; {
		var answer watchAnswer
		switch err := answers.Decode(&answer); {
		case err != nil:
			return err
		case answer.Result.Compacted > 0:
			return ErrCompacted
		case answer.Result.Canceled:
			return errors.New("etcd has ended the watch")
		}
		for _, e := range answer.Result.Events {
			c := Change{Key: string(e.KV.Key), Revision: e.KV.Revision, Value: e.KV.Value}
			if e.Type == "DELETE" {
				c.Value, c.Deleted = e.Previous.Value, true
			}
			if err := report(c); err != nil {
				return err
			}
		}
	}
}
