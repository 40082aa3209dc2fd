module digits

go 1.18
