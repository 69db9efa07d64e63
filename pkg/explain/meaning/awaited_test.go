package meaning

import (
	"strings"
	"testing"

	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// The end of a log says what a program waits for, with the object or the server that it names; what it has waited for is over.
// Requirements: FCT-13
func TestEndOfALogShowsWhatAProgramWaitsFor(t *testing.T) {
	for log, want := range map[string]*Awaited{
		"deployment \"a\" successfully rolled out\nWaiting for 1 pods to be ready...": {Line: "Waiting for 1 pods to be ready...", OfPods: true},
		`Waiting for deployment "web-app" rollout to finish: 0 of 1 updated replicas are available...`: {
			Line: `Waiting for deployment "web-app" rollout to finish: 0 of 1 updated replicas are available...`, Resource: "deployment", Name: "web-app", OfPods: true,
		},
		"2024-03-15T10:00:00Z INFO waiting for job/db-init in namespace data\nretrying in 5s":                                       {Line: "waiting for job/db-init in namespace data", Resource: "job", Name: "db-init", Namespace: "data"},
		"waiting for sshd on train-worker-0.train.default.svc":                                                                      {Line: "waiting for sshd on train-worker-0.train.default.svc", Host: "train-worker-0.train.default.svc"},
		"Waiting for postgres at postgres-primary:5432\n.\n.":                                                                       {Line: "Waiting for postgres at postgres-primary:5432", Host: "postgres-primary:5432"},
		"http://es:9200 is not ready yet, will retry":                                                                               {Line: "http://es:9200 is not ready yet, will retry", Host: "es:9200"},
		"Waiting for migrations to finish, DB at 0036, latest 0042":                                                                 {Line: "Waiting for migrations to finish, DB at 0036, latest 0042"},
		"wait-for-it.sh: waiting for db:5432 without a timeout\nwait-for-it.sh: db:5432 is available after 7 seconds":               nil,
		"Waiting for messages. To exit press CTRL+C":                                                                                nil,
		"controller/main.go:42\tWaiting for CRD foo (timeout:300)":                                                                  {Line: "controller/main.go:42 Waiting for CRD foo (timeout:300)"},
		"Waiting for secret my-tls in its namespace to appear":                                                                      {Line: "Waiting for secret my-tls in its namespace to appear", Resource: "secret", Name: "my-tls"},
		"lock is held by backup-28 and has not yet expired":                                                                         {Line: "lock is held by backup-28 and has not yet expired"},
		"Still waiting to acquire lock on /cache/a.lock":                                                                            {Line: "Still waiting to acquire lock on /cache/a.lock"},
		"Acquiring state lock. This may take a few moments":                                                                         {Line: "Acquiring state lock. This may take a few moments"},
		"Job 1 is pending, checking again in 30s\nJob 1 is pending, checking again in 30s\nJob 1 is pending, checking again in 29s": {Line: "Job 1 is pending, checking again in 29s"},
		"db:5432 - no attempt\ndb:5432 - no attempt\ndb:5432 - no attempt":                                                          {Line: "db:5432 - no attempt"}, "Job 1 is pending, checking again in 30s": nil,
		"Waiting for database ... done":               nil,
		"Waiting for database\nApplying migration 12": nil,
		"Applied 3 migrations":                        nil,
		"":                                            nil,
	} {
		assert.DeepEqual(t, AwaitedIn(strings.Split(log, "\n")), want, log)
	}
}
