"""Running a program stage by stage, into memory of its own, under fixed settings of torch.

Not here: building and choosing programs (`frontend.trial`), the flat call (`frontend.call`).
May be imported by every room of `frontend`.
"""
