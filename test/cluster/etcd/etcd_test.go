package etcd

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// gateway is a fake etcd that answers one call after the other and records the requests.
type gateway struct {
	answers []string
	asked   []string
}

func (g *gateway) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	g.asked = append(g.asked, r.URL.Path+" "+string(body))
	if len(g.answers) == 0 {
		w.WriteHeader(http.StatusServiceUnavailable)
		return
	}
	answer := g.answers[0]
	g.answers = g.answers[1:]
	_, _ = io.WriteString(w, answer)
}

func serve(t *testing.T, answers ...string) (Store, *gateway) {
	t.Helper()
	g := &gateway{answers: answers}
	server := httptest.NewServer(g)
	t.Cleanup(server.Close)
	return Store{server.URL}, g
}

// put returns an event of a watch.
func put(key string, revision int, kind, value string) string {
	values := fmt.Sprintf(`"kv": {"key": %q, "mod_revision": "%d", "value": %q}`, encoded(key), revision, encoded(value))
	if kind == "DELETE" {
		values = fmt.Sprintf(`"kv": {"key": %q, "mod_revision": "%d"}, "prev_kv": {"key": %[1]q, "value": %[3]q}`, encoded(key), revision, encoded(value))
	}
	return fmt.Sprintf(`{"type": %q, %s}`, kind, values)
}

func encoded(text string) string { return base64.StdEncoding.EncodeToString([]byte(text)) }

func watched(events ...string) string {
	return fmt.Sprintf(`{"result": {"header": {"revision": "99"}, "events": [%s]}}`+"\n", strings.Join(events, ","))
}

// A soak is judged by a history without gaps: across restarts of etcd, no change is missed or reported twice (SOK-01).
func TestFollowContinuesWhereTheConnectionEnded(t *testing.T) {
	t.Parallel()
	created := `{"result": {"header": {"revision": "6"}, "created": true}}` + "\n"
	store, g := serve(t, created+watched(put("a", 7, "", "1"), put("b", 8, "", "2")), watched(put("a", 9, "DELETE", "1")))
	ctx, cancel := context.WithCancel(t.Context())
	var got []Change
	err := store.Follow(ctx, "a", "c", 6, func(c Change) error {
		if got = append(got, c); len(got) == 3 {
			cancel()
		}
		return nil
	})
	want := []Change{{"a", 7, []byte("1"), false}, {"b", 8, []byte("2"), false}, {"a", 9, []byte("1"), true}}
	if err != nil || !slices.EqualFunc(got, want, func(a, b Change) bool { return fmt.Sprint(a) == fmt.Sprint(b) }) {
		t.Errorf("%v, %v, want %v", got, err, want)
	}
	assert.SlicesEqual(t, []int64{startOf(t, g.asked[0]), startOf(t, g.asked[1])}, []int64{7, 9}, "the watches begin at")
}

func startOf(t *testing.T, asked string) int64 {
	t.Helper()
	var request struct {
		Create struct {
			Start int64 `json:"start_revision"`
		} `json:"create_request"`
	}
	assert.NoError(t, json.Unmarshal([]byte(strings.TrimPrefix(asked, "/v3/watch ")), &request))
	return request.Create.Start
}

// A history with a gap is an error.
// Requirements: SOK-01
func TestFollowReportsAGap(t *testing.T) {
	t.Parallel()
	store, _ := serve(t, watched(put("a", 7, "", "1")), `{"result": {"canceled": true, "compact_revision": "50"}}`)
	seen := 0
	err := store.Follow(t.Context(), "a", "c", 6, func(Change) error { seen++; return nil })
	if !errors.Is(err, ErrCompacted) || seen != 1 {
		t.Errorf("%d changes, %v", seen, err)
	}
	store, _ = serve(t, watched(put("a", 7, "", "1")))
	broken := errors.New("no Job")
	if err := store.Follow(t.Context(), "a", "c", 6, func(Change) error { return broken }); !errors.Is(err, broken) {
		t.Errorf("%v", err)
	}
}

func TestDisarmEndsEachAlarm(t *testing.T) {
	t.Parallel()
	store, g := serve(t, `{"alarms": [{"memberID": "17", "alarm": "NOSPACE"}, {"memberID": "18", "alarm": "NOSPACE"}]}`, `{}`, `{}`)
	n, err := store.Disarm(t.Context())
	if err != nil || n != 2 || len(g.asked) != 3 || !strings.Contains(g.asked[2], `"DEACTIVATE"`) || !strings.Contains(g.asked[2], `"18"`) {
		t.Errorf("%d alarms, %v: %q", n, err, g.asked)
	}
	if _, err := store.Disarm(t.Context()); err == nil || !strings.Contains(err.Error(), "503") {
		t.Errorf("%v", err)
	}
}
