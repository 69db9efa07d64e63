package recorded

import (
	"net/url"
	"testing"
	"time"

	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

func TestLogsAreServedAsAKubeletDoes(t *testing.T) {
	logs := []Log{
		{Pod: "a", Container: "main", Text: "old\n"},
		{Pod: "a", Container: "main", Text: "one\ntwo\nthree\n", At: time.Unix(0, 0)},
		{Pod: "a", Container: "main", Previous: true, Text: "before\n"},
		{Pod: "a", Container: "quiet"},
	}
	for query, want := range map[string]string{
		"": "one\ntwo\nthree\n", "tailLines=2": "two\nthree\n", "tailLines=9": "one\ntwo\nthree\n", "tailLines=0": "",
		"limitBytes=5": "one\nt", "limitBytes=99": "one\ntwo\nthree\n", "previous=true": "before\n",
		"timestamps=true&tailLines=1": "1970-01-01T00:00:00Z three\n",
	} {
		values, err := url.ParseQuery(query)
		assert.NoError(t, err)
		if got, ok := LogText(logs, "a", "main", values); got != want || !ok {
			t.Errorf("%s: %q, %t", query, got, ok)
		}
	}
	if _, ok := LogText(logs, "a", "quiet", nil); !ok {
		t.Error("an empty log is no log")
	}
	if _, ok := LogText(logs, "b", "main", nil); ok {
		t.Error("another pod has the log")
	}
}
