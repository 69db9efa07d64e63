@rem kubectl (1.26 and newer) runs this on Windows to complete `kubectl batchjob`.
@kubectl-batchjob.exe __complete %*
