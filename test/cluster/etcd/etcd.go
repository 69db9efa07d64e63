// Package etcd is a client for the etcd of a test cluster, through etcd's JSON gateway, which needs no further module.
// Watches of etcd can be resumed, even if the API server has dropped its own watch history.
package etcd

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"
)

// Store is an etcd, identified by its client URL.
type Store struct{ URL string }

// Change is a change of a key.
type Change struct {
	Key      string
	Revision int64
	// Value is the new value, or the last value of a deleted key.
	Value   []byte
	Deleted bool
}

// patience is the time limit of a call.
const patience = 5 * time.Minute

// ErrCompacted means that the requested changes are no longer stored.
var ErrCompacted = errors.New("etcd has compacted the revisions that come next")

// Revision returns the revision of the latest change.
func (s Store) Revision(ctx context.Context) (int64, error) {
	var answer struct {
		Header struct {
			Revision int64 `json:",string"`
		}
	}
	err := s.call(ctx, "/v3/kv/range", map[string]any{"key": []byte("none")}, &answer)
	return answer.Header.Revision, err
}

// Compact drops all versions that were replaced up to a revision, and defragments the file.
func (s Store) Compact(ctx context.Context, revision int64) error {
	var none struct{}
	if err := s.call(ctx, "/v3/kv/compaction", map[string]any{"revision": revision, "physical": true}, &none); err != nil {
		return err
	}
	return s.call(ctx, "/v3/maintenance/defragment", map[string]any{}, &none)
}

// Disarm clears all alarms and returns how many there were.
func (s Store) Disarm(ctx context.Context) (int, error) {
	const path = "/v3/maintenance/alarm"
	var raised struct {
		Alarms []struct{ MemberID, Alarm string }
	}
	if err := s.call(ctx, path, map[string]any{"action": "GET"}, &raised); err != nil {
		return 0, err
	}
	for _, a := range raised.Alarms {
		var none struct{}
		if err := s.call(ctx, path, map[string]any{"action": "DEACTIVATE", "memberID": a.MemberID, "alarm": a.Alarm}, &none); err != nil {
			return 0, err
		}
	}
	return len(raised.Alarms), nil
}

func (s Store) call(ctx context.Context, path string, request, answer any) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	body, err := s.post(ctx, path, request)
	if err != nil {
		return err
	}
	defer func() { _ = body.Close() }()
	return json.NewDecoder(body).Decode(answer)
}

func (s Store) post(ctx context.Context, path string, request any) (io.ReadCloser, error) {
	body, err := json.Marshal(request)
	if err != nil {
		return nil, err
	}
	call, err := http.NewRequestWithContext(ctx, http.MethodPost, s.URL+path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	answer, err := http.DefaultClient.Do(call)
	if err != nil {
		return nil, err
	}
	if answer.StatusCode != http.StatusOK {
		defer func() { _ = answer.Body.Close() }()
		text, _ := io.ReadAll(answer.Body)
		return nil, fmt.Errorf("etcd %s: %s: %s", path, answer.Status, text)
	}
	return answer.Body, nil
}
