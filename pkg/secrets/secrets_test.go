package secrets_test

import (
	"strings"
	"testing"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/secrets"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// Requirements: CLI-14
func TestCredentialsAreRemovedFromLines(t *testing.T) {
	t.Parallel()
	lines := []string{
		`{"dsn":"tcp://admin:27ff0399-0d3a@signoz-clickhouse:9000"}`, "postgres://u:hunter22@db/x", "http://h/?user=a&password=hunter22&x=1",
		"PGPASSWORD=hunter22 psql", `password authentication failed for user "kong"`, "KeyError: 'TOKEN'",
		"CommandError: Can't locate revision identified by '30a419ca143e'",
	}
	want := []string{
		`{"dsn":"tcp://admin:[removed: password in a URL]@signoz-clickhouse:9000"}`, "postgres://u:[removed: password in a URL]@db/x",
		"http://h/?user=a&password=[removed: named secret]&x=1", "PGPASSWORD=[removed: named secret] psql", lines[4], lines[5], lines[6],
	}
	assert.Equal(t, strings.Join(secrets.RemoveFromLines(lines), "\n"), strings.Join(want, "\n"))
}
