package meaning

import (
	"strings"
	"testing"

	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// An error that no row knows is connected with what the pod template has of the words that it names.
//
// Requirements: CLI-18
func TestUnknownErrorIsConnectedWithThePodTemplate(t *testing.T) {
	c := Container{
		Name: "main", Image: "app:1", Secrets: []string{"db"}, Arguments: []string{"sh", "-c", "migrate --dir=/sql --lock"},
		Variables: []Variable{{Name: "DB_PASSWORD", From: "key password of Secret db"}, {Name: "DB_HOST", Value: "pg.prod"}},
		Mounts: []Mount{
			{Path: "/etc/app", Volume: "config", Kind: "ConfigMap app", ReadOnly: true}, {Path: "/host/bin", Volume: "bin", Kind: "hostPath", Directory: "/usr/bin"},
		},
	}
	for _, tc := range []struct {
		words, want string
		ofTemplate  bool
	}{
		{"DB_PASSWORD is too short", "correct variable DB_PASSWORD of container main, which comes from key password of Secret db", true},
		{`root certificate "/etc/app/ca.crt" does not exist`, "check volume config (ConfigMap app), which is mounted at /etc/app in container main: it is empty or lacks /etc/app/ca.crt", true},
		{`no certificate at "/srv/ca/ca.crt": file not found`, "whether a volume is mounted there in container main", true},
		{"cannot use /host/bin/kubelet", "check /usr/bin on the node, which container main has at /host/bin", true},
		{"--lock needs a timeout", "correct the arguments (command and args) of container main", true},
		{"curl: option -k http://x: is unknown", "the command of container main does not have -k: correct the script that it runs", true},
		{`unknown server "pg.prod"`, "correct pg.prod, if it is wrong, in variable DB_HOST of container main", true},
		{"1 validation error for Settings: api_id: Field required", "set API_ID in env of container main, which has other variables but not this one", true},
		{"GET /_ilm returned error: 400", "find out whether the server supports this request", false},
		{`PUT "https://db.prod/x": HTTP 503`, "read the log of db.prod", false},
		{"status code: 401", "check the credentials that the server does not accept: variable DB_PASSWORD (key password of Secret db) of container main", false},
		{`error parsing config: yaml: line 3: did not find expected key`, "it comes from volume config (ConfigMap app) at /etc/app", false},
		{`no matches for kind "ServiceMonitor" in version "monitoring.coreos.com/v1"`, "install what defines ServiceMonitor", false},
		{"permission denied for schema public", "grant it to the user with which container main logs in", false},
		{`Error from server (NotFound): secrets "x" not found`, "create x (secrets) in the namespace where the program looks for it", false},
		{"it broke", "", false},
		{"", "", false},
	} {
		text, ofTemplate := (&Clue{Words: tc.words}).Advice(c)
		if !strings.Contains(text, tc.want) || tc.want == "" && text != "" || ofTemplate != tc.ofTemplate {
			t.Errorf("%s\ngot  %q, %t\nwant %q, %t", tc.words, text, ofTemplate, tc.want, tc.ofTemplate)
		}
	}
}

// A variable keeps a reference to one that the template does not define as text.
//
// Requirements: CLI-18
func TestReferenceToAnUndefinedVariableIsNamed(t *testing.T) {
	q := Clue{Words: "Unable to push database changes after 3 retries."}
	c := Container{Name: "main", Variables: []Variable{{Name: "USER", Value: "app"}, {Name: "URL", Value: "pg://$(USER):$(PASS)@db"}, {Name: "PASS", Value: "x"}}}
	text, _ := q.Advice(c)
	assert.Contains(t, text, "define variable PASS before URL in env of container main", "advice")
	c.Sources = []string{"Secret db"}
	if text, _ = q.Advice(c); text != "" {
		t.Errorf("the Secret may define it: %s", text)
	}
}

// What a program advises about its error is repeated, unless it is about reading or reporting.
//
// Requirements: CLI-18
func TestAdviceOfTheProgramIsRepeated(t *testing.T) {
	for _, tc := range []struct{ words, log, want string }{
		{"Version check failed: need kubelet", "Alternatively, you can specify the version with --version", "do what its log advises: “Alternatively, you can specify the version with --version”"},
		{"error validating data; if you choose to ignore these errors, turn validation off with --validate=false", "", "“if you choose to ignore these errors, turn validation off with --validate=false”"},
		{"cannot use pg.prod", "To add an exception, call:\n\n\tgit config --global --add safe.directory /repo", "“To add an exception, call: git config --global --add safe.directory /repo”"},
		{"boom", "Please report this bug, and set DEBUG_MODE", ""},
		{"boom", "Try 'curl --help' for more information", ""},
		{"boom", "please wait", ""},
	} {
		text, _ := (&Clue{Words: tc.words, Log: append([]string{"start"}, strings.Split(tc.log, "\n")...)}).Advice(Container{Name: "main"})
		if !strings.Contains(text, tc.want) || tc.want == "" && text != "" {
			t.Errorf("%s: %q, want %q", tc.words, text, tc.want)
		}
	}
}
