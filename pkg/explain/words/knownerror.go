package words

import (
	"fmt"
	"path"
	"strings"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/wording"
)

// aboutError is a pair of texts: subject is a format for an error with a subject, bare is for one without.
type aboutError struct{ subject, bare string }

func (a aboutError) text(e *explain.KnownError) string {
	if e.Subject == "" || a.subject == "" {
		return a.bare
	}
	return fmt.Sprintf(a.subject, wording.Shorten(e.Subject, maxQuoted))
}

// errorTexts are the meanings of errors.
var errorTexts = map[explain.ErrorKind]aboutError{
	explain.ErrorWorkingDirectory:  {"its working directory %s does not exist, or it may not enter it", "its working directory does not exist, or it may not enter it"},
	explain.ErrorNotExecutable:     {"permission denied, %s is not executable", "permission denied, its command is not executable"},
	explain.ErrorReadOnly:          {"%s is on a read-only file system", "it wrote to a read-only file system"},
	explain.ErrorPermission:        {"permission denied for %s", "permission denied"},
	explain.ErrorNoSpace:           {"no space left on device for %s", "no space left on device"},
	explain.ErrorNameResolution:    {"host name %s could not be resolved", "a host name could not be resolved"},
	explain.ErrorConnectionRefused: {"connection refused by %s", "connection refused"},
	explain.ErrorCertificate:       {"the certificate of a server was not accepted: %s", "the certificate of a server was not accepted"},
	explain.ErrorOutOfMemory:       {"it ran out of memory: %s", "it ran out of memory"},
	explain.ErrorOutOfGPUMemory:    {"it ran out of GPU memory: %s", "it ran out of GPU memory"},
}

// KnownErrorText returns the meaning of an error, for the end of a sentence.
func KnownErrorText(e *explain.KnownError) string {
	switch e.Kind {
	case explain.ErrorCommandNotFound:
		return notFoundText(wording.Shorten(e.Subject, maxQuoted))
	case explain.ErrorWrongArchitecture:
		return wrongArchitectureText(wording.Shorten(e.Subject, maxQuoted))
	}
	return errorTexts[e.Kind].text(e)
}

func notFoundText(command string) string {
	switch {
	case command == "":
		return "its command does not exist in the container"
	case strings.Contains(command, "/"):
		return command + " does not exist in the container"
	}
	return fmt.Sprintf("command %s was not found in the container", command)
}

// wrongArchitectureText describes a file that the node cannot execute. A script without its #! line cannot be executed, either.
func wrongArchitectureText(file string) string {
	switch path.Ext(file) {
	case ".sh", ".bash", ".py", ".pl", ".rb", ".js":
		return fmt.Sprintf("exec format error, the script %s has no #! line, or the image is for another architecture than the node", file)
	}
	return "exec format error, the image is for another architecture than the node"
}

// NotStartedText describes a container that its runtime could not start, as the text of a cause.
func NotStartedText(container, reason string) string {
	return fmt.Sprintf("Container %s could not be started (%s)", container, reason)
}

// errorsBriefly are the errors in two or three words.
var errorsBriefly = map[explain.ErrorKind]string{
	explain.ErrorCommandNotFound:   "command not found",
	explain.ErrorNotExecutable:     "not executable",
	explain.ErrorWrongArchitecture: "wrong architecture",
	explain.ErrorWorkingDirectory:  "no working dir",
	explain.ErrorReadOnly:          "read-only files",
	explain.ErrorPermission:        "permission denied",
	explain.ErrorNoSpace:           "no space left",
	explain.ErrorNameResolution:    "unresolved host",
	explain.ErrorConnectionRefused: "connection refused",
	explain.ErrorCertificate:       "bad certificate",
	explain.ErrorOutOfMemory:       "out of memory",
	explain.ErrorOutOfGPUMemory:    "out of GPU memory",
}

// errorBriefly returns a cause with a known error for a narrow column: "exit 1: unresolved host".
func errorBriefly(c *explain.Cause) string {
	text := errorsBriefly[c.Error.Kind]
	if c.ExitCode == nil || explain.IsStartFailure(c.Reason) {
		return text
	}
	return fmt.Sprintf("exit %d: %s", *c.ExitCode, text)
}

// said returns the meaning of a message as the end of a clause, or its last line in quotes, or "" if that line is too long.
func said(e *explain.KnownError, message string) string {
	lines := LastLines(message)
	switch {
	case e != nil:
		return ": " + KnownErrorText(e)
	case len(lines) == 0 || len(lines[len(lines)-1]) > maxQuoted:
		return ""
	}
	return ", " + wording.Quoted(lines[len(lines)-1])
}

// KnownErrorAdvice returns advice on the error of a container with this image; readOnlyRoot is whether the container has
// readOnlyRootFilesystem.
func KnownErrorAdvice(e *explain.KnownError, container, image string, readOnlyRoot bool) string {
	switch e.Kind {
	case explain.ErrorCommandNotFound:
		return ExitAdvice(container, image, 127)
	case explain.ErrorNotExecutable:
		return ExitAdvice(container, image, 126)
	case explain.ErrorWrongArchitecture:
		return fmt.Sprintf("use an image of container %s for the architecture of the node, or run its pods on nodes of the image's architecture (nodeSelector kubernetes.io/arch); the image is %s", container, image)
	case explain.ErrorReadOnly:
		return writableAdvice(e.Subject, container, readOnlyRoot)
	case explain.ErrorOutOfMemory:
		return fmt.Sprintf("raise the memory limit of container %s, or that of its program (such as the heap size), or make it use less", container)
	}
	return errorAdvice[e.Kind].text(e)
}

// errorAdvice is the advice on errors that needs only their subject.
var errorAdvice = map[explain.ErrorKind]aboutError{
	explain.ErrorWorkingDirectory: {
		"correct workingDir of the container, or create %s in its image for the container's user",
		"correct workingDir of the container, or create that directory in its image for the container's user",
	},
	explain.ErrorPermission: {
		"give the container's user access to %s: check runAsUser, and fsGroup for volumes",
		"give the container's user access to the file: check runAsUser, and fsGroup for volumes",
	},
	explain.ErrorNoSpace: {
		"give the volume or disk that has %s more space, or write less to it",
		"give the volume or disk that is full more space, or write less to it",
	},
	explain.ErrorNameResolution: {
		"check host name %s: whether its Service exists in that namespace, and whether the pod can reach the cluster's DNS",
		"check the host name: whether its Service exists in that namespace, and whether the pod can reach the cluster's DNS",
	},
	explain.ErrorConnectionRefused: {
		"check whether something listens on %s when the Job starts, and whether address and port are correct",
		"check whether the server listens when the Job starts, and whether its address and port are correct",
	},
	explain.ErrorCertificate:    {"", "give the container the certificate of the CA that signed the server's, or correct that of the server"},
	explain.ErrorOutOfGPUMemory: {"", "make the program use less GPU memory, for instance with smaller batches, or use a GPU with more"},
}

// writableAdvice returns advice on a directory that is read-only.
func writableAdvice(file, container string, readOnlyRoot bool) string {
	where := "where it writes"
	if file != "" {
		where = "at " + path.Dir(file)
	}
	if readOnlyRoot {
		return fmt.Sprintf("mount a volume such as an emptyDir %s: container %s has readOnlyRootFilesystem", where, container)
	}
	return fmt.Sprintf("mount a writable volume such as an emptyDir %s: that file system is read-only in container %s", where, container)
}
