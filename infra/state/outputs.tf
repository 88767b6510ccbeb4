output "bucket" {
  description = "Name of the bucket. Set it as the stack's parameter StateBucket, and as `bucket` in backend blocks."
  value       = aws_s3_bucket.states.bucket
}

output "table" {
  description = "Name of the table. Set it as the stack's parameter StateTable, and as `dynamodb_table` in backend blocks. Empty if there is none."
  value       = one(aws_dynamodb_table.locks[*].name) == null ? "" : one(aws_dynamodb_table.locks[*].name)
}

output "key_arn" {
  description = "ARN of the key. Set it as the stack's parameter StateKeyArn, and as `kms_key_id` in backend blocks."
  value       = aws_kms_key.states.arn
}

output "role_arn" {
  description = "ARN of the role with access to the states. Set it with `lockstep serve -state-role`. Null if there is none."
  value       = one(aws_iam_role.states[*].arn)
}
