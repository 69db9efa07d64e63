package explain

// ErrorKind is what an error means, whoever reports it in which words.
type ErrorKind string

// The kinds of KnownError.
const (
	ErrorCommandNotFound   ErrorKind = "CommandNotFound"   // the command, or a script for it, does not exist in the container
	ErrorNotExecutable     ErrorKind = "NotExecutable"     // the command may not be executed
	ErrorWrongArchitecture ErrorKind = "WrongArchitecture" // exec format error
	ErrorWorkingDirectory  ErrorKind = "WorkingDirectory"  // it does not exist, or may not be entered
	ErrorReadOnly          ErrorKind = "ReadOnly"          // the file system is
	ErrorPermission        ErrorKind = "PermissionDenied"  // on a file
	ErrorNoSpace           ErrorKind = "NoSpace"           // left on a device
	ErrorNameResolution    ErrorKind = "NameResolution"    // a host name has no address
	ErrorConnectionRefused ErrorKind = "ConnectionRefused"
	ErrorCertificate       ErrorKind = "Certificate"    // that of a server was not accepted
	ErrorOutOfMemory       ErrorKind = "OutOfMemory"    // the program could not get more
	ErrorOutOfGPUMemory    ErrorKind = "OutOfGPUMemory" // the same on a GPU
)

// KnownError is an error whose meaning is known, as a program, a shell, a container runtime or the kubelet reports it. It is
// comparable.
type KnownError struct {
	Kind ErrorKind `json:"kind"`
	// Subject is the command, file, host name or address that the message names, or the detail of an ErrorCertificate or
	// ErrorOutOfMemory; "" if it names none.
	Subject string `json:"subject,omitempty"`
}
