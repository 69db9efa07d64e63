package words

import (
	"strings"
	"testing"

	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
)

// Requirements: CLI-18
func TestErrorsHaveAMeaningAndAdvice(t *testing.T) {
	for _, tc := range []struct {
		kind                  explain.ErrorKind
		subject, text, advice string
	}{
		{explain.ErrorCommandNotFound, "trian", "command trian was not found in the container", "fix the command of container main"},
		{explain.ErrorCommandNotFound, "/app/trian", "/app/trian does not exist in the container", "fix the command of container main"},
		{explain.ErrorNotExecutable, "/run.sh", "permission denied, /run.sh is not executable", "make the command of container main executable"},
		{explain.ErrorWrongArchitecture, "/app", "exec format error, the image is for another architecture than the node", "kubernetes.io/arch"},
		{explain.ErrorWrongArchitecture, "/run.sh", "exec format error, the script /run.sh has no #! line, or the image is for another architecture than the node", "kubernetes.io/arch"},
		{explain.ErrorWorkingDirectory, "/srv", "its working directory /srv does not exist, or it may not enter it", "correct workingDir"},
		{explain.ErrorReadOnly, "/var/cache/x", "/var/cache/x is on a read-only file system", "mount a volume such as an emptyDir at /var/cache: container main has readOnlyRootFilesystem"},
		{explain.ErrorReadOnly, "", "it wrote to a read-only file system", "mount a volume such as an emptyDir where it writes"},
		{explain.ErrorPermission, "/data", "permission denied for /data", "fsGroup"},
		{explain.ErrorNoSpace, "/data", "no space left on device for /data", "more space"},
		{explain.ErrorNameResolution, "db.prod", "host name db.prod could not be resolved", "check host name db.prod"},
		{explain.ErrorConnectionRefused, "db:5432", "connection refused by db:5432", "listens on db:5432"},
		{explain.ErrorCertificate, "x509: expired", "the certificate of a server was not accepted: x509: expired", "the CA that signed"},
		{explain.ErrorOutOfMemory, "Java heap space", "it ran out of memory: Java heap space", "raise the memory limit of container main"},
		{explain.ErrorOutOfGPUMemory, "", "it ran out of GPU memory", "GPU"},
	} {
		e := &explain.KnownError{Kind: tc.kind, Subject: tc.subject}
		if got := KnownErrorText(e); got != tc.text {
			t.Errorf("got  %s\nwant %s", got, tc.text)
		}
		if got := KnownErrorAdvice(e, "main", "app:1", true); !strings.Contains(got, tc.advice) {
			t.Errorf("%s: advice %q, want %q", tc.kind, got, tc.advice)
		}
		if got := errorBriefly(&explain.Cause{Error: e, ExitCode: ptr.To[int32](127)}); len(got) > WhyWidth || !strings.HasPrefix(got, "exit 127: ") || len(got) < len("exit 127: ")+5 {
			t.Errorf("%s in brief: %q", tc.kind, got)
		}
		bare := &explain.KnownError{Kind: tc.kind}
		for _, text := range []string{KnownErrorText(bare), KnownErrorAdvice(bare, "main", "app:1", false)} {
			if text == "" || strings.Contains(text, "%!") || strings.Contains(text, "  ") {
				t.Errorf("%s without a subject: %q", tc.kind, text)
			}
		}
	}
}
